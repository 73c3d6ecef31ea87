/* Too few arguments. */

BEGIN { exit(); }
