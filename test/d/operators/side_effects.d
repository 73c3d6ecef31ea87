/* What is on the right of && is evaluated when the left is true only. */
#pragma D option quiet

BEGIN { x = 0; y = 0; z = x && y++; z = !x || y++; printf("%d\n", y); z = x || y++; printf("%d\n", y); exit(0); }

/* expect: 0 */
/* expect: 1 */
