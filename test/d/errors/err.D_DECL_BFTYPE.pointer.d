/* A bit-field of pointers. */

struct s { char *a:3; };
BEGIN {  }
