// SPDX-License-Identifier: Apache-2.0
#include "probes/attach/code_location.hpp"

#include "vm/base/epoch.hpp"
#include "vm/code/module.hpp"
#include "vm/process/code_view.hpp"

namespace vmrun::attach {

CodeLocation code_location_of(std::uint64_t address) {
  const EpochGuard guard;
  const auto* at = reinterpret_cast<const Word*>(address & ~Word{7});
  CodeLocation place{kNonValue, kNonValue};
  const FunctionHeader* f = function_header_at(at);
  if (!f) return place;
  place = {f->module, f->function, f->arity};
  const SourceLocation where = location_at(at);
  if (!where.file || !where.line) return place;
  place.file = *where.file;
  place.line = where.line;
  return place;
}

}  // namespace vmrun::attach
