/* Addresses of IPv4 in those of IPv6, and the types of the system's headers. */
#pragma D option quiet

BEGIN
{
	this->a = (struct in6_addr *)alloca(sizeof (struct in6_addr));
	this->a->in6_u.u6_addr8[12] = 127; this->a->in6_u.u6_addr8[15] = 1;
	printf("%s %s %s\n", inet_ntoa6(this->a), inet_ntoa6(this->a, 1), inet_ntop(AF_INET6, this->a));
	this->a->in6_u.u6_addr16[5] = 0xffff;
	printf("%s %s\n", inet_ntoa6(this->a), inet_ntoa6(this->a, 1));
	this->i = (struct in_addr *)alloca(sizeof (struct in_addr));
	this->i->s_addr = htonl(0x7f000001);
	printf("%s %d\n", inet_ntop(AF_INET, this->i), sizeof (in6_addr_t));
	exit(0);
}

/* expect: 127.0.0.1 ::127.0.0.1 ::127.0.0.1 */
/* expect: 127.0.0.1 ::ffff:127.0.0.1 */
/* expect: 127.0.0.1 16 */
