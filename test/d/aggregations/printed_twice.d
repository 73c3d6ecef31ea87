/* What END prints is not printed once more. */
#pragma D option quiet

BEGIN { @ = count(); exit(0); }
END { printa("%@d\n", @); }

/* expect: 1 */
