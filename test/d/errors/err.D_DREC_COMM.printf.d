/* Output behind commit. */

BEGIN { commit(1); printf("x"); }
