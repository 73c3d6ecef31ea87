/* this-> lives from clause to clause of one firing. */
#pragma D option quiet

BEGIN { this->x = 5; }
BEGIN { printf("%d\n", this->x); exit(0); }

/* expect: 5 */
