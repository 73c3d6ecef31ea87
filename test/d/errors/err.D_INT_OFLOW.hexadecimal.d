/* A number of 65 bits. */

BEGIN { trace(0x10000000000000000); }
