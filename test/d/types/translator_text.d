/* A translator with a text. */
#pragma D option quiet

struct who { string name; int size; };
translator struct who < string s > { name = strjoin("<", strjoin(s, ">")); size = strlen(s); };
BEGIN { printf("%s %d\n", xlate <struct who> ("ann").name, xlate <struct who> ("ann").size); exit(0); }

/* expect: <ann> 3 */
