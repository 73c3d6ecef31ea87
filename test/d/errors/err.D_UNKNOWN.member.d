/* A member twice. */

struct s { int a; char a; };
BEGIN {  }
