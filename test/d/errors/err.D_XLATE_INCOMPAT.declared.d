/* A member of another type, in a translator that nothing uses. */

struct s { char *text; };
translator struct s <int i> { text = i; };
BEGIN {  }
