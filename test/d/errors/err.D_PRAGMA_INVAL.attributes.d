/* No such stability. */
#pragma D attributes Steady/Stable/Common x

BEGIN {  }
