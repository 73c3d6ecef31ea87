/* What is called must be a name. */

struct s { int a; };
struct s v;
BEGIN { v.a(1); }
