/* An array without a dimension. */

int a[];
BEGIN {  }
