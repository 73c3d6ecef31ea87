// SPDX-License-Identifier: Apache-2.0
#include "runtime/bif/standard_input.hpp"

#include <poll.h>
#include <unistd.h>

#include "vm/base/uninterrupted.hpp"

namespace vmrun {

std::mutex& standard_input_lock() {
  static std::mutex& mutex = *new std::mutex;
  return mutex;
}

ssize_t read_standard_input(void* bytes, std::size_t most) {
  for (;;) {
    pollfd p{STDIN_FILENO, POLLIN, 0};
    poll(&p, 1, -1);
    // The input may have been meant for the menu and read by it.
    std::lock_guard guard(standard_input_lock());
    if (uninterrupted([&] { return poll(&p, 1, 0); }) != 0) return read(STDIN_FILENO, bytes, most);
  }
}

}  // namespace vmrun
