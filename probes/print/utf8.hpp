#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

/// UTF-8 in the data of traced programs, which may be any bytes. There is no state; any thread may
/// call. Spec: Unicode 15, table 3-7 (no overlong forms, no surrogates).
namespace vmrun::d {

struct CodePoint {
  std::uint32_t value;
  std::size_t bytes;  // its length; 0: the bytes are not UTF-8
};

/// Returns the first code point of a text, which must not be empty.
CodePoint first_code_point(std::string_view text);

}  // namespace vmrun::d
