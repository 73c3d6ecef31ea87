/* A negative dimension. */

int a[-1];
BEGIN {  }
