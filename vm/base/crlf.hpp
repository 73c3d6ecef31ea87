#pragma once

#include <string>
#include <string_view>

#include "vm/base/version.hpp"

namespace vmrun {

/// Text that the machine writes past the I/O servers: OTP's ends its lines with CR and LF, whatever
/// it writes to, and so does this one in its place.
inline std::string with_crlf(std::string_view text) {
  std::string lines;
  for (const char c : text) {
    if (c == '\n' && runs_installed_system) lines += '\r';
    lines += c;
  }
  return lines;
}

}  // namespace vmrun
