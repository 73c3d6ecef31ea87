/* Translators of structures themselves, in both directions, by pointers to the result, in inlines. */
#pragma D option quiet

struct in { int i; char c; };
struct out { int oi; char oc; };
translator struct out < struct in x > { oi = ((struct in)x).i + 1; oc = x.c; };
translator struct in < struct out x > { i = x.oi; c = ((struct out)x).oc; };
translator struct out < int n > { oi = n * 2; oc = 'n'; };
inline struct out doubled = xlate <struct out> (21);
struct in from;
struct out to;

BEGIN
{
	from.i = 10; from.c = 'a'; to.oi = 5; to.oc = 'b'; this->f = from;
	printf("%d %c\n", xlate <struct out> (from).oi, xlate <struct out *> (from)->oc);
	printf("%d %c %d\n", xlate <struct in> (to).i, xlate <struct in> (to).c, xlate <struct out> (this->f).oi);
	printf("%d %c\n", doubled.oi, doubled.oc);
	exit(0);
}

/* expect: 11 a */
/* expect: 5 b 11 */
/* expect: 42 n */
