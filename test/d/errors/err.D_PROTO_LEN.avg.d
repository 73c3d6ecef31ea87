/* Nothing to take in. */

BEGIN { @ = avg(); }
