// SPDX-License-Identifier: Apache-2.0
// The system's options of IPv6, with what some headers leave out.
#pragma once

#include <linux/in6.h>
#include <netinet/in.h>

// Some kernels' headers leave it out where those of glibc have been read before (6.12.38).
#ifndef IPV6_FLOWINFO
#define IPV6_FLOWINFO 11
#endif
