#pragma once

#include <fcntl.h>
#include <unistd.h>

namespace vmrun {

/// For the beginning of main: a standard file that is closed is /dev/null, always at its end, and
/// what is written goes nowhere. Else the next file or socket to be opened would be taken for it.
inline void fill_standard_files() {
  for (int fd = 0; fd <= STDERR_FILENO; ++fd)
    if (::fcntl(fd, F_GETFD) < 0) (void)::open("/dev/null", O_RDWR);  // gives the lowest free number
}

}  // namespace vmrun
