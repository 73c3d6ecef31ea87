/* A control line that there is not. */

#nothing
BEGIN {  }
