/* The kernel's stack. */

BEGIN { trace(stackdepth); }
