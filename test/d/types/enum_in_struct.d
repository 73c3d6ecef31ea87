/* An enumeration in a structure. */
#pragma D option quiet

enum e { A = -1, B };
struct s { enum e k; int n; };
struct s v;
BEGIN { v.k = A; v.n = 3; printf("%d %d %d\n", v.k, v.n, sizeof (enum e)); exit(0); }

/* expect: -1 3 4 */
