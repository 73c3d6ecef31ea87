/* #pragma error. */
/* expect-err: not on this machine */

#pragma error not on this machine
BEGIN {  }
