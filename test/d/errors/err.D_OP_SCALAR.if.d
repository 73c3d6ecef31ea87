/* Nor in if. */

struct s { int a; };
struct s v;
BEGIN { if (v) { trace(1); } }
