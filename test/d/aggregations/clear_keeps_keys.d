/* clear() leaves keys with nothing. */
#pragma D option quiet

BEGIN { @a["x"] = sum(5); clear(@a); printa("%s %@d\n", @a); exit(0); }

/* expect: x 0 */
