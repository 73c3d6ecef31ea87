/* An unsigned structure. */

struct s { int a; };
unsigned struct s x;
BEGIN {  }
