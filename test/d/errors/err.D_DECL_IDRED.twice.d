/* A variable declared twice with other types. */

int x;
string x;
BEGIN { exit(0); }
