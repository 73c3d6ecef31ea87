/* Addresses of 16 bytes. */
#pragma D option quiet

struct in6 { unsigned char b[16]; };
struct in6 a;

BEGIN
{
	a.b[0] = 0xfe; a.b[1] = 0x80; a.b[15] = 1;
	printf("%s %s %s\n", inet_ntoa6(&a), inet_ntoa6(a), inet_ntop(AF_INET6, &a));
	a.b[0] = 0; a.b[1] = 0;
	printf("%s\n", inet_ntoa6(&a));
	exit(0);
}

/* expect: fe80::1 fe80::1 fe80::1 */
/* expect: ::1 */
