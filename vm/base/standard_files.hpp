// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <fcntl.h>
#include <unistd.h>

namespace vmrun {

/// Called at the beginning of main. Opens /dev/null for each standard file that is closed: reads
/// find the end, and writes go nowhere. Otherwise the next opened file or socket would become a
/// standard file.
inline void fill_standard_files() {
  for (int fd = 0; fd <= STDERR_FILENO; ++fd)
    if (::fcntl(fd, F_GETFD) < 0) (void)::open("/dev/null", O_RDWR);  // returns the lowest free number
}

}  // namespace vmrun
