/* Two types of one value. */

BEGIN { x = 1 ? "a" : 3; }
