/* signed unsigned. */

signed unsigned x;
BEGIN {  }
