// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <optional>

#include "runtime/bif/bifs_generated.hpp"
#include "runtime/bif/support.hpp"
#include "vm/code/code_server.hpp"
#include "vm/code/function_probes.hpp"
#include "vm/code/module.hpp"
#include "vm/process/dirty_job.hpp"

/// Coverage (OTP 27): which functions or lines have been executed, counted by code that was loaded
/// in a mode for that. The functions are those of OTP's module code.
namespace vmrun {
namespace {

struct ModeRow {
  const char* name;
  CoverageMode mode;
};
constexpr ModeRow kModes[] = {{"none", CoverageMode::kNone},
                              {"function", CoverageMode::kFunction},
                              {"function_counters", CoverageMode::kFunctionCounters},
                              {"line", CoverageMode::kLine},
                              {"line_counters", CoverageMode::kLineCounters}};

Term name_of(CoverageMode mode) { return intern_atom(kModes[static_cast<int>(mode)].name); }

std::optional<CoverageMode> mode_of(Term name) {
  for (const ModeRow& row : kModes)
    if (name == intern_atom(row.name)) return row.mode;
  return std::nullopt;
}

const Module* module_of(Term name) { return name.is_atom() ? current_module(name) : nullptr; }

/// The answer for a counter: how often, or whether it was reached.
Term shown(const Coverage& c, const Word& counter) {
  const Word n = std::atomic_ref(const_cast<Word&>(counter)).load(std::memory_order_relaxed);
  const bool counts = c.mode == CoverageMode::kFunctionCounters || c.mode == CoverageMode::kLineCounters;
  return counts ? Term::small(static_cast<SWord>(std::min<Word>(n, Term::kSmallMax))) : bool_term(n != 0);
}

/// {{Function, Arity}, Answer} of each function but those that every module has.
Term functions(Process& p, const Module& m) {
  static const Term module_info = intern_atom("module_info");
  const Coverage& c = *m.coverage;
  std::vector<bool> reached(m.functions.size());
  if (c.counts_lines()) {
    for (std::size_t i = 0; i < c.lines.size(); ++i)
      if (shown(c, c.counters[i]) != atoms::false_ && shown(c, c.counters[i]) != Term::small(0))
        reached[c.lines[i].function] = true;
  }
  ListBuilder list(p.heap);
  for (std::size_t n = 0; n < m.functions.size(); ++n) {
    const auto* header = reinterpret_cast<const FunctionHeader*>(m.code.data() + m.functions[n]);
    if (header->function == module_info && header->arity <= 1) continue;
    const Term answer = c.counts_lines() ? bool_term(reached[n]) : shown(c, c.counters[n]);
    list.add(new_tuple(p.heap, new_tuple(p.heap, header->function, Term::small(header->arity)), answer));
  }
  return list.finish();
}

/// {Line, Answer} in the order of the code; by_id: {Number that the compiler gave the line, Count}.
Term lines(Process& p, const Coverage& c, bool by_id) {
  ListBuilder list(p.heap);
  for (std::size_t i = 0; i < c.lines.size(); ++i)
    list.add(
        new_tuple(p.heap, Term::small(by_id ? c.lines[i].id : c.lines[i].line), shown(c, c.counters[i])));
  return list.finish();
}

}  // namespace

Term bif_code_coverage_support_0(Process&, const Term*) { return atoms::true_; }

Term bif_code_get_coverage_mode_0(Process&, const Term*) {
  return name_of(coverage_mode.load(std::memory_order_relaxed));
}
Term bif_code_get_coverage_mode_1(Process& p, const Term* a) {
  const Module* m = module_of(a[0]);
  if (!m) return raise_badarg(p);
  return name_of(m->coverage ? m->coverage->mode : CoverageMode::kNone);
}
/// Returns the mode so far. It counts for modules that are loaded afterwards.
Term bif_code_set_coverage_mode_1(Process& p, const Term* a) {
  const auto mode = mode_of(a[0]);
  return mode ? name_of(coverage_mode.exchange(*mode, std::memory_order_relaxed)) : raise_badarg(p);
}

Term bif_code_get_coverage_2(Process& p, const Term* a) {
  if (came_back(p)) return run_on_dirty(p, bif_code_get_coverage_2, a, 2);
  static const Term function = intern_atom("function"), line = intern_atom("line"),
                    cover_id_line = intern_atom("cover_id_line");
  const Module* m = module_of(a[1]);
  if (!m || !m->coverage) return raise_badarg(p);
  const Coverage& c = *m->coverage;
  if (too_long(2 * (c.counters.size() + m->functions.size())))
    return run_on_dirty(p, bif_code_get_coverage_2, a, 2);
  if (a[0] == function) return functions(p, *m);
  if (a[0] == line && c.counts_lines()) return lines(p, c, false);
  if (a[0] == cover_id_line && c.mode == CoverageMode::kLineCounters) return lines(p, c, true);
  return raise_badarg(p);
}

Term bif_code_reset_coverage_1(Process& p, const Term* a) {
  const Module* m = module_of(a[0]);
  if (!m || !m->coverage) return raise_badarg(p);
  for (Word& counter : m->coverage->counters) std::atomic_ref(counter).store(0, std::memory_order_relaxed);
  return atoms::ok;
}

}  // namespace vmrun
