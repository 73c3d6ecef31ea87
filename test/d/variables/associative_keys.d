/* Keys of several types; each key is another element. */
#pragma D option quiet

BEGIN { a[1, "x"] = 1; a[1, "y"] = 2; a[2, "x"] = 3; printf("%d %d %d %d\n", a[1, "x"], a[1, "y"], a[2, "x"], a[2, "y"]); exit(0); }

/* expect: 1 2 3 0 */
