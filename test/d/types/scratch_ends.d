/* What alloca() gave ends where it ends, and with its clause. */
#pragma D option quiet

BEGIN { p = (char *)alloca(16); p[15] = 'x'; n = 1; p[16] = 'y'; n = 2; }
BEGIN { printf("%d\n", n); } BEGIN { c = *p; printf("not reached\n"); }
BEGIN { this->a = alloca(8); this->b = alloca(24); bcopy(this->a, this->b, 40); printf("not reached\n"); }
BEGIN { n = 3; this->a = (char *)alloca(8); bcopy("abcdef" , this->a, n + 1); printf("%s\n", (string)this->a); }
ERROR { printf("error\n"); }
BEGIN { exit(0); }

/* expect: error */
/* expect: 1 */
/* expect: error */
/* expect: error */
/* expect: abcd */
/* expect-err: invalid address */
