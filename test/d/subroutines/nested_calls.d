/* Calls in calls. */
#pragma D option quiet

BEGIN { printf("%s\n", toupper(strjoin(substr("hello", 0, 2), lltostr(strlen("abc"))))); exit(0); }

/* expect: HE3 */
