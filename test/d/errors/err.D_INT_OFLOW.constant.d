/* A number of more than 64 bits. */

BEGIN { x = 99999999999999999999; }
