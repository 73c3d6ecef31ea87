/* An enumerator twice in one enumeration. */

enum e { a, b, a = 2 };
BEGIN {  }
