/* A member that there is not. */

struct t { int a; int b; };
translator struct t < int n > { c = n; };
BEGIN {  }
