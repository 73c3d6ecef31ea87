/* An address of IPv6 lies in a structure of 16 bytes. */

BEGIN { p = (int *)alloca(16); trace(inet_ntoa6(p)); }
