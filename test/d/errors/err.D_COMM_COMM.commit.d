/* Two commits in a clause. */

BEGIN { commit(1); commit(2); }
