#pragma once
// Which names of a module are meant by those that it does not have: what follows "undefined" in the
// messages of lint. Constant operations; one compilation, one thread.

#include <string>

#include "runtime/compile/check/tables.hpp"

namespace vmrun::compile {

/// Where a function may come from.
enum class Callable : uint8_t { kOwn, kAny };  // kAny: imported and built-in ones too

/// Each is empty, or ", did you mean NAME?". Functions and records that are named so count as used.
std::string meant_function(ModuleTables& tables, const FunctionName& wrong, Callable callable);
std::string meant_record(ModuleTables& tables, std::string_view wrong);
std::string meant_field(const RecordForm& record, std::string_view wrong);
std::string meant_type(const ModuleTables& tables, const FunctionName& wrong);

}  // namespace vmrun::compile
