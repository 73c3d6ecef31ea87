/* An enumerator that is no constant. */

enum e { A = "x" };
BEGIN { exit(0); }
