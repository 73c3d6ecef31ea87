#pragma once

#include <utility>
#include <vector>

#include "vm/base/word.hpp"

/// erlang:memory/0, for others.
namespace vmrun {

/// Name and bytes of each item. Any thread.
std::vector<std::pair<const char*, Word>> memory_items();

}  // namespace vmrun
