/* A structure that is only named. */

translator struct s <int i> { n = i; };
BEGIN {  }
