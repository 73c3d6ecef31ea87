/* Speculation behind output. */

BEGIN { printf("x"); speculate(1); }
