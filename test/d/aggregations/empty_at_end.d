/* What nothing was put to is not printed. */
#pragma D option quiet

BEGIN { exit(0); }
END { @a = count(); clear(@a); trunc(@a); }

/* expect: */
