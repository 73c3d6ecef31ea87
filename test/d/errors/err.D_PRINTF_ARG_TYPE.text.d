/* A text for %d. */

BEGIN { printf("%d\n", "text"); }
