/* print() shows the name of an enumerator. */
#pragma D option quiet

enum colour { RED, GREEN = 5 };
enum colour c;
BEGIN { c = GREEN; printf("%d %d\n", c, c == GREEN); exit(0); }

/* expect: 5 1 */
