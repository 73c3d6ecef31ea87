/* print() of a union and of bit-fields. */
#pragma D option quiet

union u { int n; char c; };
struct s { int a:3; int b:5; union u x; };
struct s v;
BEGIN { v.a = -1; v.b = 5; v.x.n = 65; print(v); exit(0); }

/* expect: struct s { */
/* expect:     int a :3 = 0x7 */
/* expect:     int b :5 = 0x5 */
/* expect:     union u x = { */
/* expect:         int n = 65 */
/* expect:         char c = 'A' */
/* expect:     } */
/* expect: } */
