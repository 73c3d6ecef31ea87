/* A storage class that D does not have. */

static int x;
BEGIN {  }
