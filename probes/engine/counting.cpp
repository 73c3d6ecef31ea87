// SPDX-License-Identifier: Apache-2.0
#include "probes/engine/counting.hpp"

#include <algorithm>

namespace vmrun::d {

namespace {

bool is_fixed(Builtin builtin) {
  switch (builtin) {
    case Builtin::kPid:
    case Builtin::kPpid:
    case Builtin::kExecname:
    case Builtin::kProbeprov:
    case Builtin::kProbemod:
    case Builtin::kProbefunc:
    case Builtin::kProbename:
    case Builtin::kId:
    case Builtin::kUid:
    case Builtin::kGid: return true;
    default: return false;
  }
}

/// Whether the instruction has the same result each time, changes nothing but aggregations, and
/// fails at every firing or at none.
bool is_fixed(const Instruction& i) {
  switch (i.operation) {
    case Operation::kMove:
    case Operation::kLoad:
    case Operation::kConst:
    case Operation::kText:
    case Operation::kAdd:
    case Operation::kSub:
    case Operation::kMul:
    case Operation::kNot:
    case Operation::kNeg:
    case Operation::kSext:
    case Operation::kZext:
    case Operation::kKeyi:
    case Operation::kKeys:
    case Operation::kAgg:
    case Operation::kRet: return true;
    case Operation::kBuiltin:
    case Operation::kKeybuiltin: return is_fixed(static_cast<Builtin>(i.imm));
    default: return false;
  }
}

bool is_own(const Enabled& e, const Program& program) {
  if (e.probe == kErrorProbe) return false;  // ERROR fires wherever a clause fails
  if (e.probe >= kBeginProbe) return true;
  return e.probe >= kFirstTimerProbe && !program.timers[e.probe - kFirstTimerProbe].profile;
}

bool exits(const Clause& c) {
  return std::ranges::any_of(c.body, [](const Instruction& i) { return i.operation == Operation::kExit; });
}

}  // namespace

bool only_counts(const Clause& clause) {
  return clause.predicate.empty() && !clause.makes_record && !clause.body.empty() &&
         std::ranges::all_of(clause.body, [](const Instruction& i) { return is_fixed(i); });
}

bool can_count_later(const Program& program) {
  if (program.options.policy == Options::Policy::kFill) return false;  // the first full buffer ends tracing
  return std::ranges::none_of(program.clauses, [&](const Clause& c) {
    return exits(c) && !std::ranges::all_of(c.probes, [&](const Enabled& e) { return is_own(e, program); });
  });
}

bool Rehearsal::run(const Clause& clause, std::uint32_t probe, std::vector<Element>& effect) {
  Thread& t = thread_;
  t.fuel = Thread::kFuel;
  t.current = &t.tables[0];
  t.memory.release_all();
  t.key_words = 1;
  std::uint64_t result = 0;
  const bool runs = d::run(t, clause.body.data(), {probe, 0, nullptr, nullptr}, result);
  AggregationMaster taken_in(t.shared.program.aggregations, t.shared.program.options.aggsize);
  const bool fits = taken_in.merge(*t.current) == 0;
  t.current->clear();
  taken_in.walk([&](std::uint32_t number, const std::string& key, const std::vector<std::uint64_t>& values) {
    effect.push_back({number, key, values});
  });
  return runs && fits;
}

}  // namespace vmrun::d
