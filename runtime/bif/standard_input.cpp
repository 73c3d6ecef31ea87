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
    // What was there may have been for the menu.
    std::lock_guard guard(standard_input_lock());
    if (uninterrupted([&] { return poll(&p, 1, 0); }) != 0) return read(STDIN_FILENO, bytes, most);
  }
}

}  // namespace vmrun
