/* The kernel's thread. */
/* expect-err: data of the kernel is not within reach */

BEGIN { trace(curthread); }
