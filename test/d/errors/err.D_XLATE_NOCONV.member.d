/* A member that the translator does not make. */

struct t { int a; int b; };
translator struct t < int n > { a = n; };
BEGIN { trace(xlate <struct t> (1).b); }
