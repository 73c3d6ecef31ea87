/* -C and -D. */
/* flags: -C -DWANTED -DN=5 */
#pragma D option quiet

#define TWICE(x) ((x) * 2)
#ifdef WANTED
BEGIN
{
	printf("%d\n", TWICE(N));
	exit(0);
}
#endif

/* expect: 10 */
