// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

#include "vm/heap/heap.hpp"

/// Texts as lists of code points. The function never collects.
namespace vmrun {

/// Returns the code points of a text. Bytes that are not UTF-8 (arguments and the environment may
/// hold any) count as Latin-1, as in `erl`.
Term code_point_list(Heap& heap, std::string_view utf8);

}  // namespace vmrun
