/* A member that is no number is given one... of another type. */

struct t { int a; int b; };
translator struct t < int n > { a = "x"; };
BEGIN { trace(xlate <struct t> (1).a); }
