/* A structure is not copied in. */

struct s { int a; };
struct s v;
BEGIN { trace(copyinstr(v)); }
