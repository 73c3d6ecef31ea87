/* Texts are compared by their bytes. */
#pragma D option quiet

BEGIN { s = "abc"; printf("%d%d%d%d%d%d\n", s < "abd", s <= "abc", s > "ab", s >= "abcd", s != "ABC", s == "abc"); exit(0); }

/* expect: 111011 */
