// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "runtime/compile/check/tables.hpp"

/// Suggests which name of a module is meant by one that it does not have: the text that follows
/// "undefined" in the messages of lint. One compilation, one thread.
namespace vmrun::compile {

/// Which functions may be suggested.
enum class Callable : std::uint8_t { kOwn, kAny };  // kAny: also imported and built-in ones

/// Each function returns "" or ", did you mean NAME?". Suggested functions and records count as
/// used.
std::string meant_function(ModuleTables& tables, const FunctionName& wrong, Callable callable);
std::string meant_record(ModuleTables& tables, std::string_view wrong);
std::string meant_field(const RecordForm& record, std::string_view wrong);
std::string meant_type(const ModuleTables& tables, const FunctionName& wrong);

}  // namespace vmrun::compile
