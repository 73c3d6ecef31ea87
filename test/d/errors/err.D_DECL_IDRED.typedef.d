/* A typedef of another type. */

typedef int t;
typedef char t;
BEGIN {  }
