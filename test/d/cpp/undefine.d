/* -U takes a macro away. */
/* flags: -C -DWANTED -UWANTED */
#pragma D option quiet

#ifdef WANTED
BEGIN { printf("wanted\n"); exit(1); }
#else
BEGIN { printf("not\n"); exit(0); }
#endif

/* expect: not */
