/* Byte order. */
#pragma D option quiet

BEGIN { printf("%x %x %x %x\n", htons(0x1234), htonl(0x12345678), htonll(0x123456789abcdef0), ntohs(0x3412)); exit(0); }

/* expect: 3412 78563412 f0debc9a78563412 1234 */
