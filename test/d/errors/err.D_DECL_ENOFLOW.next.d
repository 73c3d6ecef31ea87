/* The one behind the largest. */

enum e { A = 0x7fffffff, B };
BEGIN {  }
