// SPDX-License-Identifier: Apache-2.0
#pragma once
// A place in a source text, as the compiler's messages, trees and SSA refer to it.

#include <cstdint>

namespace vmrun {

/// file: index in the table of files of the one compilation or module. Lines and columns count from
/// one, columns in code points.
struct Loc {
  std::uint32_t file = 0;
  std::uint32_t line = 0;  // 0: place not known
  std::uint32_t column = 0;
  bool known() const { return line != 0; }
  friend bool operator==(const Loc&, const Loc&) = default;
};

}  // namespace vmrun
