/* Addresses of networks as texts. */
#pragma D option quiet

BEGIN
{
	this->a = (uint32_t *)alloca(4);
	*this->a = htonl(0x7f000001);
	printf("%s %s\n", inet_ntoa(this->a), inet_ntop(AF_INET, this->a));
	exit(0);
}

/* expect: 127.0.0.1 127.0.0.1 */
