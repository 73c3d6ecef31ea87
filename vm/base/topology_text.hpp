// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>
#include <variant>
#include <vector>

#include "vm/base/processors.hpp"

/// The topology that +sct states (erl(1)): entries of L, t, c, p and n with identifiers, separated
/// by colons.
namespace vmrun {

/// Returns the places, sorted, or what is wrong with the text.
std::variant<std::vector<ProcessorPlace>, const char*> read_topology(std::string_view text);

}  // namespace vmrun
