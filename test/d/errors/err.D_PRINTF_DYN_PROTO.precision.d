/* A precision that is not given. */

BEGIN { printf("%.*d"); }
