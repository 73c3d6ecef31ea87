/* SPDX-License-Identifier: Apache-2.0 */
/* The sample driver echo with outputv. */
#define VECTORS
#include "../../drivers/samples/echo_drv.c"
