/* No frames. */

BEGIN { ustack(0); }
