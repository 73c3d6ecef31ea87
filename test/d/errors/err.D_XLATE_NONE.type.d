/* A type that nothing translates. */

struct t { int a; int b; };
translator struct t < int n > { a = n; };
BEGIN { trace(xlate <struct t> ("x").a); }
