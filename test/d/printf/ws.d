/* %ws and %wc, %ls and %lc take what %s and %c take. */
#pragma D option quiet

BEGIN { printf("%ws %wc %ls %lc\n", "wide", (int)97, "long", (int)98); exit(0); }

/* expect: wide a long b */
