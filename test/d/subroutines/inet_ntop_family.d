/* A family that there is not fires ERROR. */
#pragma D option quiet

BEGIN { this->a = (uint32_t *)alloca(4); printf("%s\n", inet_ntop(77, this->a)); }
ERROR { printf("fault %d\n", arg4); exit(0); }

/* expect: fault 3 */
/* expect-err: illegal operation */
