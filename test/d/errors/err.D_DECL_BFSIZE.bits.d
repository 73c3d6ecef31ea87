/* A bit-field wider than its type. */

struct s { int a:40; };
BEGIN { exit(0); }
