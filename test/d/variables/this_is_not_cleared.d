/* this-> variables are shared by the clauses of one firing. */
#pragma D option quiet

BEGIN { this->x = 5; }
BEGIN { this->x++; }
BEGIN { printf("%d\n", this->x); exit(0); }

/* expect: 6 */
