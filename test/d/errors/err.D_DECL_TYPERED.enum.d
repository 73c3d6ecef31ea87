/* An enumeration twice. */

enum e { A };
enum e { B };
BEGIN {  }
