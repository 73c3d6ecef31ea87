/* How it is written is known when the script is compiled. */

BEGIN { n = 0; p = (struct in6_addr *)alloca(16); trace(inet_ntoa6(p, n)); }
