/* The width of a bit-field must be a constant integer. */

struct s { int a:"x"; };
BEGIN {  }
