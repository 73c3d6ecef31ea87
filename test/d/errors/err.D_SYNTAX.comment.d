/* A comment without an end. */

BEGIN {  } /* never
