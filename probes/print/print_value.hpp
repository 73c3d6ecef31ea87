#pragma once

#include <string>
#include <vector>

#include "probes/d/script/script.hpp"
#include "probes/print/value.hpp"

/// print(): a value with its type and its members' names, as dtrace shows it. No state.
namespace vmrun::d {

void print_typed(std::string& out, const std::vector<CType>& types, const Value& value);

}  // namespace vmrun::d
