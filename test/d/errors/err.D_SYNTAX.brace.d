/* A clause without its end. */

BEGIN {
	exit(0);
