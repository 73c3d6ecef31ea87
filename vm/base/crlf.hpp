// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "vm/base/release.hpp"

namespace vmrun {

/// Line ends of the text that the machine writes past the I/O servers. OTP ends these lines with CR
/// and LF on every device, and this machine does the same when it runs OTP's system.
inline std::string with_crlf(std::string_view text) {
  std::string result;
  for (const char c : text) {
    if (c == '\n' && runs_installed_system) result += '\r';
    result += c;
  }
  return result;
}

}  // namespace vmrun
