/* Built-in variables that are always there. */
#pragma D option quiet

BEGIN { printf("%d %d %d %d %d %s\n", pid > 0, ppid > 0, timestamp > 0, walltimestamp > 1000000000000000000, uid == $uid, probename); exit(0); }

/* expect: 1 1 1 1 1 BEGIN */
