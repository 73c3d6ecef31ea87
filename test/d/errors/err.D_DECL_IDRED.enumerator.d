/* An enumerator of the name of a variable. */

int x;
enum e { x };
BEGIN {  }
