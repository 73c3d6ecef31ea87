/* A short short. */

short short x;
BEGIN {  }
