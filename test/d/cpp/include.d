/* -C: what is included is looked for beside the script. */
/* flags: -C */
#pragma D option quiet

#include "numbers.h"

BEGIN
{
	printf("%d\n", SEVEN);
	exit(0);
}

/* expect: 7 */
