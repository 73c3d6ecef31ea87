/* Bytes of an integer by a union. */
#pragma D option quiet

union u { uint32_t n; unsigned char b[4]; };
union u v;
BEGIN { v.n = 0x01020304; printf("%d%d%d%d %d\n", v.b[0], v.b[1], v.b[2], v.b[3], sizeof (union u)); exit(0); }

/* expect: 4321 4 */
