#pragma once

#include <string_view>

#include "vm/heap/heap.hpp"

/// Texts as lists of code points. Never collects.
namespace vmrun {

/// The code points of a text. Bytes that are no UTF-8 (in arguments and the environment there may
/// be any) count as Latin-1, as in `erl`.
Term code_point_list(Heap& heap, std::string_view utf8);

}  // namespace vmrun
