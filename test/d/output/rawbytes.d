/* -x rawbytes: all bytes of a text's variable. Structures are bytes always. */
#pragma D option quiet
#pragma D option rawbytes=Yes
#pragma D option strsize=6

struct one { char c; };
struct one held;

BEGIN { held.c = 'x'; trace("abcdefgh"); trace(substr("hello", 3)); trace(held); exit(0); }

/* expect: */
/* expect:              0  1  2  3  4  5  6  7  8  9  a  b  c  d  e  f  0123456789abcdef */
/* expect:          0: 61 62 63 64 65 66 00                             abcdef. */
/* expect: */
/* expect:              0  1  2  3  4  5  6  7  8  9  a  b  c  d  e  f  0123456789abcdef */
/* expect:          0: 6c 6f 00 00 00 00 00                             lo..... */
/* expect: */
/* expect:              0  1  2  3  4  5  6  7  8  9  a  b  c  d  e  f  0123456789abcdef */
/* expect:          0: 78                                               x */
