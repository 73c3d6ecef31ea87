/* A declaration gives no value. */

int x = 3;
BEGIN {  }
