/* The last place. */
#pragma D option quiet

BEGIN { printf("%d %d %d\n", rindex("banana", "an"), rindex("banana", "x"), index("banana", "an", 2)); exit(0); }

/* expect: 3 -1 3 */
