/* Functions of texts fire ERROR for NULL. */
#pragma D option quiet

BEGIN { n = strlen(NULL); printf("not reached\n"); }
BEGIN { this->t = strtok("a b", NULL); printf("not reached\n"); }
BEGIN { this->t = NULL; n = this->t[1]; printf("not reached\n"); }
BEGIN { this->t = strjoin(strstr("a", "b"), "x"); printf("not reached\n"); }
ERROR { printf("%d\n", arg4 == DTRACEFLT_BADADDR); }
BEGIN { exit(0); }

/* expect: 1 */
/* expect: 1 */
/* expect: 1 */
/* expect: 1 */
/* expect-err: invalid address */
