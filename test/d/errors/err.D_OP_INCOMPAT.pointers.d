/* The sum of two pointers. */

BEGIN { x = (int *)0 + (int *)0; }
