// SPDX-License-Identifier: Apache-2.0
// Where parts of instructions may jump to. Included by live_registers.hpp.
#pragma once

namespace vmrun::jit {

template <class See>
void for_targets(const FunctionCode& code, const Part& p, See&& see) {
  for (const Operand& o : code.operands(p))
    if (o.kind == Operand::Kind::kTarget && o.value) see(o.target());
  const auto distance_at = [&](std::size_t n) { return p.at + static_cast<SWord>(p.list[n]); };
  switch (p.family) {
    case op::Family::select_dense:
      for (std::size_t n = 0; n < p.list.size(); ++n) see(distance_at(n));
      break;
    case op::Family::select_hash:
    case op::Family::select_linear:
    case op::Family::select_tuple_arity:
      for (std::size_t n = 0; n + 1 < p.list.size(); n += 2)
        if (p.list[n]) see(distance_at(n + 1));
      break;
    default: break;
  }
}

}  // namespace vmrun::jit
