/* Precision: digits of a number, characters of a text. */
#pragma D option quiet

BEGIN { printf("%.5d|%.0d|%8.3d|%.2s|%8.2s|%-8.2s|\n", 42, 0, 7, "text", "text", "text"); exit(0); }

/* expect: 00042||     007|te|      te|te      | */
