/* An inline with parameters. */
#pragma D option quiet

inline int twice[int n] = n * 2;
inline string both[string a, string b] = strjoin(a, b);
BEGIN { printf("%d %s\n", twice[21], both["a", "b"]); exit(0); }

/* expect: 42 ab */
