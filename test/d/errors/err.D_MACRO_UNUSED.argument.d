/* An argument that nobody uses. */
/* args: unused */

BEGIN { exit(0); }
