/* depends_on of what there is not. */

#pragma D depends_on nothing x
BEGIN {  }
