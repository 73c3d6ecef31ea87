/* A negative size. */

BEGIN { jstack(3, -1); }
