/* An enumerator beyond an int. */

enum e { A = 0x80000000 };
BEGIN {  }
