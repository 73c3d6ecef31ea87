// SPDX-License-Identifier: Apache-2.0
#include "vm/jit/compile_function.hpp"

#include <utility>

#include "vm/jit/build_graph.hpp"
#include "vm/jit/emit_code.hpp"

namespace vmrun::jit {

std::shared_ptr<const FunctionCode> read_function(const FunctionHeader& function, const Word* end) {
  return std::make_shared<const FunctionCode>(function, end);
}

Refusal compile(const FunctionCode& code, const Surroundings& around, HotFunction* out) {
  Graph graph;
  if (const Refusal r = build_graph(code, around, &graph); r != Refusal::kNone) return r;
  Allocation places;
  if (!allocate_registers(graph, &places)) return Refusal::kPlaces;
  emit(graph, places, out);
  out->inlined = std::move(graph.inlined);
  return out->code.empty() ? Refusal::kTooLong : Refusal::kNone;
}

}  // namespace vmrun::jit
