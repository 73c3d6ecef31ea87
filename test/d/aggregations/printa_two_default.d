/* Several aggregations, without a format. */

BEGIN { @a = count(); @b = count(); printa(@a, @b); }
BEGIN { exit(0); }
#pragma D option quiet

/* expect: */
/* expect:                 1                1 */
