/* #pragma D error. */
#pragma D error "not this one"

BEGIN {  }
