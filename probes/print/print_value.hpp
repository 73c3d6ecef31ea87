// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "probes/d/script/script.hpp"
#include "probes/print/value.hpp"

/// print(): shows a value with its type and its members' names, as dtrace does. It keeps no state.
namespace vmrun::d {

void print_typed(std::string& out, const std::vector<CType>& types, const Value& value);

}  // namespace vmrun::d
