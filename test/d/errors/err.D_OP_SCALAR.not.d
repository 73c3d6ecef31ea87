/* A structure is neither true nor false. */

struct s { int a; };
struct s v;
BEGIN { x = !v; }
