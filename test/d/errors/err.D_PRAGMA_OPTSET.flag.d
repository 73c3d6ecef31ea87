/* Neither yes nor no. */
#pragma D option quiet=please

BEGIN {  }
