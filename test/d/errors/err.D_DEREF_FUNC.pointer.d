/* What a pointer to a function points to. */

typedef int f(int);
f *p;
BEGIN { x = *p; }
