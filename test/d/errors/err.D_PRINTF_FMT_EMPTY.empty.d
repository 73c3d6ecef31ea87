/* An empty format. */

BEGIN { printf(""); }
