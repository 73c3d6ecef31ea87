/* if in if. */
#pragma D option quiet

BEGIN { x = 3; if (x) { if (x > 5) { printf("a"); } else { printf("b"); } } if (!x) { } else { printf("c\n"); } exit(0); }

/* expect: bc */
