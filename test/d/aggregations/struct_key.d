/* A structure as a key. */
#pragma D option quiet

struct p { int x; int y; };
struct p v;
BEGIN { v.x = 1; v.y = 2; @[v.x, v.y] = count(); v.x = 3; @[v.x, v.y] = count(); exit(0); }

/* expect: */
/* expect:         1        2                1 */
/* expect:         3        2                1 */
