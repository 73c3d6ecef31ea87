/* What xlate makes, as a whole. */

struct t { int a; };
translator struct t < int n > { a = n; };
BEGIN { x = xlate <struct t> (3); }
