/* A member of no type. */

struct s { void a; };
BEGIN {  }
