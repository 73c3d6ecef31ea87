/* Offsets of members. */
#pragma D option quiet

struct s { char a; int b; char c; long long d; };
BEGIN { printf("%d %d %d %d %d\n", offsetof(struct s, a), offsetof(struct s, b), offsetof(struct s, c), offsetof(struct s, d), sizeof (struct s)); exit(0); }

/* expect: 0 4 8 16 24 */
