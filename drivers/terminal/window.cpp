// SPDX-License-Identifier: Apache-2.0
#include "drivers/terminal/window.hpp"

#include <sys/ioctl.h>

namespace vmrun::terminal {

std::optional<WindowSize> window_size(int descriptor) {
  winsize seen{};
  if (ioctl(descriptor, TIOCGWINSZ, &seen) != 0 || !seen.ws_col || !seen.ws_row) return {};
  return WindowSize{seen.ws_col, seen.ws_row};
}

}  // namespace vmrun::terminal
