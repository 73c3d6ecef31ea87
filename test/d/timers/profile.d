/* profile fires without a target too. */
#pragma D option quiet

profile-200 { printf("fired\n"); exit(0); }

/* expect: fired */
