/* A translator twice. */

struct t { int a; int b; };
translator struct t < int n > { a = n; };
translator struct t < int m > { b = m; };
BEGIN {  }
