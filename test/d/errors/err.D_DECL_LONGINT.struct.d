/* A long structure. */

struct s { int a; };
long struct s x;
BEGIN {  }
