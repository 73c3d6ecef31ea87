/* An option without a name. */

#pragma D option
BEGIN {  }
