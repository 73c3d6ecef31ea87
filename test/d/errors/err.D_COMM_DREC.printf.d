/* Commit behind output. */

BEGIN { printf("x"); commit(1); }
