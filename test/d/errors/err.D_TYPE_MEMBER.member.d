/* A member that is not there. */

struct s { int a; };
struct s x;
BEGIN { trace(x.b); }
