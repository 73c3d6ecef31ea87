/* A member that there is not. */

struct s { int a; };
BEGIN { trace(offsetof(struct s, b)); }
