/* %x shows as many bits as the type has. */
#pragma D option quiet

BEGIN { printf("%x %x %x %X\n", (char)-1, (short)-1, (int)-1, (long long)-1); exit(0); }

/* expect: ff ffff ffffffff FFFFFFFFFFFFFFFF */
