/* A member of a structure that is only named. */

struct s;
struct s *p;
BEGIN { x = p->a; }
