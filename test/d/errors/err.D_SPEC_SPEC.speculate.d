/* Two speculations in a clause. */

BEGIN { speculate(1); speculate(2); }
