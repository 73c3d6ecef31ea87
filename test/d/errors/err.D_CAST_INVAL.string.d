/* A structure is no string. */

struct s { int a; };
struct s v;
BEGIN { trace((string)v); }
