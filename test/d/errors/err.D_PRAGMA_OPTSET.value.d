/* A value that is none. */

#pragma D option bufsize=many
BEGIN {  }
