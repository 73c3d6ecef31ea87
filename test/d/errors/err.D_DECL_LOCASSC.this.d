/* this-> arrays with keys. */

this int x[int];
BEGIN { exit(0); }
