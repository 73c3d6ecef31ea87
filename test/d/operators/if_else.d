/* if and else. */
#pragma D option quiet

BEGIN { x = 3; if (x > 2) { printf("a"); } else { printf("b"); } if (x > 5) printf("c"); else if (x > 2) printf("d"); else printf("e"); printf("\n"); exit(0); }

/* expect: ad */
