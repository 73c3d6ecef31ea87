/* A member of what is no structure, by its address. */

BEGIN { x = (int *)0; y = x->a; }
