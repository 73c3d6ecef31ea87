/* A variable of a structure that is only named. */

struct nosuch s;
BEGIN { exit(0); }
