#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

/// UTF-8 as traced programs hand it over, which may be anything. No state; any thread.
/// Spec: Unicode 15, table 3-7 (no overlong forms, no surrogates).
namespace vmrun::d {

struct CodePoint {
  std::uint32_t value;
  std::size_t bytes;  // that it takes; 0: what stands there is no UTF-8
};

/// Of a text that is not empty.
CodePoint first_code_point(std::string_view text);

}  // namespace vmrun::d
