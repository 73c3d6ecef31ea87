/* A member without a name. */

struct s { int *; };
BEGIN {  }
