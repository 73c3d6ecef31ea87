/* A provider that there is not. */

#pragma D depends_on provider io
BEGIN {  }
