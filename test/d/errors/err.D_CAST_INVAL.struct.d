/* A cast to a structure. */

struct s { int a; };
BEGIN { x = (struct s)1; }
