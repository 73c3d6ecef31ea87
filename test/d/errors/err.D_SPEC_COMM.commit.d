/* Commit while speculating. */

BEGIN { commit(1); speculate(1); }
