/* A status that is a text. */

BEGIN { exit("a"); }
