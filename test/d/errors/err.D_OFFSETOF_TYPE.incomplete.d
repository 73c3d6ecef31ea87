/* The offset in a structure that is only named. */

struct s;
BEGIN { trace(offsetof(struct s, a)); }
