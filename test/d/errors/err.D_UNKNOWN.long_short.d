/* A long short in a cast. */

BEGIN { i = (long short)0; }
