/* A function nobody knows. */

BEGIN { nosuch(); }
