/* A storage class of a member. */

struct s { static int a; };
BEGIN {  }
