/* A typedef of a structure, of a pointer, of an array. */
#pragma D option quiet

typedef struct { int a; } rec;
typedef rec *prec;
typedef int three[3];
rec r;
three t;
BEGIN { r.a = 3; this->p = (prec)&r; t[2] = 4; printf("%d %d %d\n", this->p->a, t[2], sizeof (three)); exit(0); }

/* expect: 3 4 12 */
