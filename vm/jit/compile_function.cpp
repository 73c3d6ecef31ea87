// SPDX-License-Identifier: Apache-2.0
#include "vm/jit/compile_function.hpp"

#include <utility>

#include "vm/jit/build_graph.hpp"
#include "vm/jit/emit_code.hpp"
#include "vm/jit/unboxing.hpp"

namespace vmrun::jit {

std::shared_ptr<const FunctionCode> read_function(const FunctionHeader& function, const Word* end) {
  return std::make_shared<const FunctionCode>(function, end);
}

Refusal compile(const FunctionCode& code, const Surroundings& around, HotFunction* out) {
  Graph graph;
  if (const Refusal r = build_graph(code, around, &graph); r != Refusal::kNone) return r;
  keep_unboxed(&graph);
  Allocation places;
  if (!allocate_registers(graph, &places)) return Refusal::kPlaces;
  emit(graph, places, out);
  out->inlined = std::move(graph.inlined);
  return out->code.empty() ? Refusal::kTooLong : Refusal::kNone;
}

bool computes_with_floats(const FunctionCode& code, const Word* at, const Term* x, const Term* y) {
  const auto parts = code.parts();
  for (std::size_t n = code.part_at(at); n < parts.size() && parts[n].at == at; ++n) {
    const auto operands = code.operands(parts[n]);
    const OperandUse use = FunctionCode::use(parts[n]);
    for (unsigned k = 0; k < operands.size(); ++k) {
      const Operand& o = operands[k];
      if (!(use.read >> k & 1)) continue;
      if (o.is_x() && x[o.value].is_float()) return true;
      if (o.is_y() && y[o.value].is_float()) return true;
    }
  }
  return false;
}

Term called_fun(const FunctionCode& code, const Word* at, const Term* x, const Term* y) {
  const auto parts = code.parts();
  const std::size_t first = code.part_at(at);
  std::size_t n = first;
  while (n < parts.size() && parts[n].at == at && parts[n].family == op::Family::move) ++n;
  if (n == parts.size() || parts[n].at != at) return kNonValue;
  if (parts[n].family != op::Family::call_fun && parts[n].family != op::Family::call_fun_last)
    return kNonValue;
  Operand fun = code.operands(parts[n])[1];
  while (n-- > first) {
    const auto moved = code.operands(parts[n]);
    if (moved[1].kind == fun.kind && moved[1].value == fun.value) fun = moved[0];
  }
  if (fun.is_x()) return x[fun.value];
  return fun.is_y() ? y[fun.value] : Term::from_raw(fun.value);
}

}  // namespace vmrun::jit
