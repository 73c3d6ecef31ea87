// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <utility>
#include <vector>

#include "vm/base/word.hpp"

/// The items of erlang:memory/0, for other files.
namespace vmrun {

/// Returns name and bytes of each item. Any thread.
std::vector<std::pair<const char*, Word>> memory_items();

}  // namespace vmrun
