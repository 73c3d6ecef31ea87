/* Modifiers of size: the type of the argument decides. */
#pragma D option quiet

BEGIN { printf("%hd %hu %hx %ho %ld %lu %lx %lld %llu %llx\n", (short)-1, (unsigned short)65535, (short)255, (short)8, -5, 6, 7, -8, 9, 10); exit(0); }

/* expect: -1 65535 ff 10 -5 6 7 -8 9 a */
