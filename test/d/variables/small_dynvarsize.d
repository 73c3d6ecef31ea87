/* Variables that are given back make room, and a small dynvarsize has room for some. */
#pragma D option quiet
#pragma D option dynvarsize=16

BEGIN { self->a = 1; self->b = 2; self->c = 3; self->a = 0; self->d = 4; a[1] = 0; a[2] = 5; }
struct s { int n; };
this struct s one;
BEGIN { this->one.n = 6; self->s = this->one; s[1] = this->one; }
BEGIN { printf("%d %d ", self->s.n, s[1].n); self->s = 0; s[1] = 0; }
BEGIN { printf("%d %d\n", self->s.n, s[1].n); }
BEGIN { printf("%d %d %d %d %d %d\n", self->a, self->b, self->c, self->d, a[1], a[2]); exit(0); }

/* expect: 6 6 0 0 */
/* expect: 0 2 3 4 0 5 */
