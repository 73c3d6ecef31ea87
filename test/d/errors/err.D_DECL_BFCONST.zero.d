/* A bit-field with a name has a width. */

struct s { int a:0; };
BEGIN {  }
