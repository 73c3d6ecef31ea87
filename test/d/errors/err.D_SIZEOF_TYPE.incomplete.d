/* The size of a structure that is only named. */

struct s;
BEGIN { trace(sizeof(struct s)); }
