/* Keys of all kinds. */
#pragma D option quiet

BEGIN { @a[1, -2, "three", (char)4, (unsigned long long)5] = count(); printa("%d %d %s %d %u %@u\n", @a); exit(0); }

/* expect: 1 -2 three 4 5 1 */
