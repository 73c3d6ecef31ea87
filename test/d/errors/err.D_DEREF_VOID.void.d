/* * of a pointer to void. */

BEGIN { trace(*(void *)0); }
