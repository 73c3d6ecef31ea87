/* Too many arguments. */

BEGIN { x = strlen("a", "b"); }
