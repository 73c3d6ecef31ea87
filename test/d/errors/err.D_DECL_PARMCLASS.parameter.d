/* A storage class of a key. */

int a[static int];
BEGIN {  }
