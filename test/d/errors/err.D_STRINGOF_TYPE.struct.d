/* A structure is no text. */

struct s { int a; };
struct s v;
BEGIN { trace(stringof(v)); }
