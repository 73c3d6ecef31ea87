// SPDX-License-Identifier: Apache-2.0
#include "vm/jit/compile_function.hpp"

#include <utility>

#include "vm/jit/build_graph.hpp"
#include "vm/jit/emit_code.hpp"

namespace vmrun::jit {

bool compile(const FunctionHeader& function, const Word* end, const Surroundings& around, HotFunction* out) {
  const FunctionCode code(function, end);
  Graph graph;
  if (!build_graph(code, around, &graph)) return false;
  Allocation places;
  if (!allocate_registers(graph, &places)) return false;
  emit(graph, places, out);
  out->inlined = std::move(graph.inlined);
  return !out->code.empty();
}

}  // namespace vmrun::jit
