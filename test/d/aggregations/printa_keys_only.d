/* A format that shows keys only. */
#pragma D option quiet

BEGIN { @a[1, "x"] = count(); @a[2, "y"] = count(); printa("%d-%s\n", @a); exit(0); }

/* expect: 1-x */
/* expect: 2-y */
