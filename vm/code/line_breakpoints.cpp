// SPDX-License-Identifier: Apache-2.0
#include "vm/code/line_breakpoints.hpp"

#include <algorithm>
#include <vector>

#include "vm/base/release.hpp"
#include "vm/code/code_server.hpp"
#include "vm/code/instructions.hpp"
#include "vm/code/module.hpp"
#include "vm/code/patches.hpp"
#include "vm/process/process.hpp"
#include "vm/process/return_address.hpp"

namespace vmrun {
namespace {

Term return_to(const Word* address) { return Term::from_raw(reinterpret_cast<Word>(address)); }

std::uint32_t line_of(const Module& m, const Word* at) {
  const auto word = static_cast<std::uint32_t>(at - m.begin());
  const auto it = std::ranges::lower_bound(m.line_breakpoints, word, {}, &Module::LineBreakpoint::word);
  return it != m.line_breakpoints.end() && it->word == word ? it->line : 0;
}

/// Returns the function that tells the debugger; nullptr: the installed system has none.
const Export* handler_of_breakpoints() {
  static const Term breakpoint = intern_atom("breakpoint");
  static Export* const of_otp = export_entry(intern_atom("erts_internal"), breakpoint, 4);
  static Export* const of_scripts = export_entry(intern_atom("vmrun_debugger"), breakpoint, 4);
  if (!runs_installed_system) return of_scripts;
  return is_defined(*of_otp) ? of_otp : nullptr;
}

}  // namespace

LineBreakpointResult set_line_breakpoint(Term module, Word line, bool on) {
  const Module* const m = current_module(module);
  if (!m) return LineBreakpointResult::kNoModule;
  if (!m->takes_line_breakpoints) return LineBreakpointResult::kUnsupportedModule;
  const std::uint16_t wanted = on ? op::line_breakpoint : op::line_breakpoint_off;
  bool found = false;
  std::vector<NewOperation> changes;
  for (const Module::LineBreakpoint& b : m->line_breakpoints) {
    if (b.line != line) continue;
    found = true;
    const Word* const at = m->begin() + b.word;
    // A native function, or call_debugger, may stand in its place: then the line is not reached.
    const std::uint16_t there = operation_at(at);
    if (there == (on ? op::line_breakpoint_off : op::line_breakpoint))
      changes.push_back({const_cast<Word*>(at), wanted});
  }
  if (!changes.empty()) set_operations(changes);
  if (found) return LineBreakpointResult::kDone;
  const bool known =
      std::ranges::any_of(m->lines, [&](const Module::LineEntry& entry) { return entry.line == line; });
  return known ? LineBreakpointResult::kUnsupportedLine : LineBreakpointResult::kNoLine;
}

bool is_line_breakpoint_on(const Word* at) { return operation_at(at) == op::line_breakpoint; }

const Export* begin_line_breakpoint(Process& p, const Word* at, const Word* next, Term* x, unsigned live) {
  const Export* const handler = handler_of_breakpoints();
  const Module* const m = module_at(at);
  const FunctionHeader* const f = m ? function_header_at(at) : nullptr;
  if (!f || !handler) return nullptr;
  if (f->module == handler->module && f->function == handler->function && f->arity == handler->arity)
    return nullptr;  // the process would never get out of it
  Term* stack = p.heap.stop;
  *--stack = return_to(next);
  stack -= live;
  std::copy(x, x + live, stack);
  *--stack = return_to(line_breakpoint_end);
  p.heap.stop = stack;
  x[0] = f->module;
  x[1] = f->function;
  x[2] = Term::small(f->arity);
  x[3] = Term::small(line_of(*m, at));
  return handler;
}

}  // namespace vmrun
