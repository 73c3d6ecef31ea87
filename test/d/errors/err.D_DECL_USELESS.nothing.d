/* A declaration of nothing. */

int;
BEGIN { exit(0); }
