/* A variable of the kernel. */

BEGIN { trace(curthread); }
