/* The preprocessor by -x, with headers of the system. */
/* flags: -xcpp -xdefine=STATUS=4 -xundef=__linux */
/* status: 4 */
#include <endian.h>
#pragma D option quiet

BEGIN
{
#if __BYTE_ORDER == __LITTLE_ENDIAN && !defined __linux
	exit(STATUS);
#endif
}
