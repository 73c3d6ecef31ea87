/* None of this kind either. */

BEGIN { while (1) { } }
