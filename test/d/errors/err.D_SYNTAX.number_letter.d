/* A letter in a number. */

BEGIN { trace(0xg); }
