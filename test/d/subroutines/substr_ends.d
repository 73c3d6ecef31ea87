/* From the end, beyond the end. */
#pragma D option quiet

BEGIN { s = "hello"; printf("%s|%s|%s|%s|%s|\n", substr(s, -3), substr(s, 1, 2), substr(s, 9), substr(s, -9, 6), substr(s, 1, -1)); exit(0); }

/* expect: llo|el||he|ell| */
