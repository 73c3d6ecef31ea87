/* The preprocessor chooses. */
/* flags: -C -DWANTED */
#pragma D option quiet

#ifdef WANTED
BEGIN { printf("wanted\n"); exit(0); }
#else
BEGIN { printf("not\n"); exit(1); }
#endif

/* expect: wanted */
