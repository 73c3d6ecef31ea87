/* A predicate that is a structure. */

struct s { int a; };
struct s v;
BEGIN /v/ { }
