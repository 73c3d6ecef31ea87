/* The address of a bit-field. */

struct bits { int a:3; };
struct bits b;
BEGIN { x = &b.a; }
