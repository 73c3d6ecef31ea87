/* Nothing is written to the target. */
/* expect-err: cannot be written */

BEGIN { copyout((void *)0, 0, 1); }
