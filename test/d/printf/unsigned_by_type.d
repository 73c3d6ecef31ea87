/* %d shows the sign that the type has; %u the bits. */
#pragma D option quiet

BEGIN { printf("%d %d %u %u\n", (unsigned char)200, (char)200, (char)200, (int)-1); exit(0); }

/* expect: 200 -56 200 4294967295 */
