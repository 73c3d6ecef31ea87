/* A structure too large. */

struct s { char a[16000000]; char b[16000000]; };
BEGIN {  }
