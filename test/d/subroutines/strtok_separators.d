/* The separator that ended a token is not passed over: another call may have others. */
#pragma D option quiet

BEGIN { printf("[%s]", strtok("one,two;three", ",")); printf("[%s]\n", strtok(NULL, ";")); printf("%s %s\n", cleanpath("a/.."), cleanpath("./")); exit(0); }

/* expect: [one][,two] */
/* expect: . . */
