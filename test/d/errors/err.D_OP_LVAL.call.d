/* A call is not assigned. */

BEGIN { strlen("a") = 3; }
