// SPDX-License-Identifier: Apache-2.0
#include "vm/code/module.hpp"

#include <algorithm>
#include <mutex>

#include "vm/base/debugger_facts.hpp"
#include "vm/base/epoch.hpp"
#include "vm/code/code_upcalls.hpp"
#include "vm/code/exceptions.hpp"
#include "vm/code/function_probes.hpp"
#include "vm/code/hot_code.hpp"
#include "vm/code/instructions.hpp"
#include "vm/code/line_info.hpp"
#include "vm/code/machine_code.hpp"
#include "vm/code/reclaim.hpp"
#include "vm/code/walk.hpp"
#include "vm/process/return_address.hpp"

namespace vmrun {

void make_stub(Export& e) {
  e.stub.header.operation = op::func_info_cc;
  e.stub.operation = op::export_undefined;
  e.stub.header.hot = stubs.at_entry;
  if (e.module != atoms::erlang || e.function != atoms::apply) return;
  if (e.arity == 2) e.stub.operation = op::apply_fun_entry;
  if (e.arity == 3) e.stub.operation = op::apply_mfa_entry;
}

/// All code ranges, sorted. It is replaced as a whole; readers take no lock, and former versions
/// are retired.
struct CodeRanges {
  std::vector<const Module*> modules;
  mutable const PatchTable* patches = nullptr;  // patches that are freed with it
};

namespace {

std::atomic<const CodeRanges*> code_ranges{new CodeRanges};
std::mutex code_ranges_mutex;
std::atomic<std::uint32_t> code_versions{0};

}  // namespace

void tell_debuggers_of_code() {
  static_assert(sizeof(std::atomic<const CodeRanges*>) == sizeof(void*));
  static_assert(offsetof(CodeRanges, modules) == 0);
  add_debugger_fact("code.ranges", &code_ranges);  // leads to a vector of modules in order
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Winvalid-offsetof"
  add_debugger_fact("Module.code", offsetof(Module, code));
  add_debugger_fact("Module.functions", offsetof(Module, functions));
  add_debugger_fact("Module.lines", offsetof(Module, lines));
  add_debugger_fact("Module.files", offsetof(Module, files));
#pragma GCC diagnostic pop
  static_assert(sizeof(Module::LineEntry) == 12 && offsetof(Module::LineEntry, line) == 8);
  static_assert(sizeof(std::string) == 32 && sizeof(Module::functions) == 24);  // of libstdc++
  add_debugger_fact("Function.arity", offsetof(FunctionHeader, arity));
  add_debugger_fact("Function.module", offsetof(FunctionHeader, module));
  add_debugger_fact("Function.function", offsetof(FunctionHeader, function));
  add_debugger_fact("Function.size", sizeof(FunctionHeader));
  add_debugger_fact("code.ends_of_calls", ends_of_calls);
}

std::vector<const Module*> registered_modules() {
  const EpochGuard guard;
  return code_ranges.load(std::memory_order_acquire)->modules;
}

const Module* module_at(const Word* address) {
  const auto& modules = code_ranges.load(std::memory_order_acquire)->modules;
  auto it = std::upper_bound(modules.begin(), modules.end(), address,
                             [](const Word* a, const Module* m) { return a < m->begin(); });
  if (it == modules.begin()) return nullptr;
  const Module* m = *--it;
  return address < m->end() ? m : nullptr;
}

bool is_defined(const Export& e) {
  return e.address.load(std::memory_order_acquire) != e.stub_code() ||
         e.stub.operation != op::export_undefined;
}

bool is_apply(const Export& e) {
  return e.stub.operation == op::apply_fun_entry || e.stub.operation == op::apply_mfa_entry;
}

void set_export_code(Export& e, const Word* address) {
  if (e.bif || is_apply(e)) return;  // it is the machine's, whatever a module of that name has
  e.address.store(address ? address : e.stub_code(), std::memory_order_release);
}

void register_bifs(const BifRow* rows, std::size_t count) {
  for (const BifRow& row : std::span(rows, count)) {
    if (!row.exists()) continue;
    Export* e = export_entry(intern_atom(row.module), intern_atom(row.name), row.arity);
    if (is_apply(*e)) continue;
    e->bif = row.fn;
    e->bif_flags = row.flags_now();
    if (row.cause) set_failure_cause(*e, row.cause);
    e->stub.operation = op::export_bif;
    e->address.store(e->stub_code(), std::memory_order_release);
  }
}

namespace {

/// The words in front of its entries lead to the interpreter.
void lead_to_interpreter(Module& m) {
  if (!stubs.at_entry) return;
  for (std::size_t n = 0; n < m.functions.size(); ++n) {
    Word* const header = m.code.data() + m.functions[n];
    auto* const f = reinterpret_cast<FunctionHeader*>(header);
    f->hot = stubs.at_entry;
    each_instruction(f->entry(), m.end_of_function(n), [&](const Word* at, const InstructionRow& row) {
      if (!(row.flags & InstructionRow::kEntry)) return;
      const Word* const next = next_instruction(at, row);
      const_cast<Word*>(next)[-1] = reinterpret_cast<Word>(stubs.at_return);
    });
  }
}

}  // namespace

void register_code(Module& m) {
  lead_to_interpreter(m);
  const CodeRanges* before;
  {
    std::lock_guard lock(code_ranges_mutex);
    before = code_ranges.load(std::memory_order_relaxed);
    auto* next = new CodeRanges(*before);
    auto at = std::upper_bound(next->modules.begin(), next->modules.end(), m.begin(),
                               [](const Word* a, const Module* o) { return a < o->begin(); });
    next->modules.insert(at, &m);
    m.version = code_versions.load(std::memory_order_relaxed) + 1;
    code_ranges.store(next, std::memory_order_release);
    // After the range: a thread that reads the number has not seen it in an address yet.
    code_versions.store(m.version, std::memory_order_release);
  }
  retire(sizeof *before + before->modules.size() * sizeof(Module*), [before] { delete before; });
  probe_new_code(m);
}

const CodeRanges* unregister_code(const Module& m) {
  const CodeRanges* before;
  {
    std::lock_guard lock(code_ranges_mutex);
    before = code_ranges.load(std::memory_order_relaxed);
    auto* next = new CodeRanges(*before);
    std::erase(next->modules, &m);
    code_ranges.store(next, std::memory_order_release);
  }
  before->patches = forget_probes_of(m);
  return before;
}

void free_code_ranges(const CodeRanges* ranges) {
  free_patches(ranges->patches);
  delete ranges;
}

std::uint32_t newest_code() { return code_versions.load(std::memory_order_acquire); }

Word module_bytes(const Module& m) {
  return sizeof m + m.code.size() * sizeof(Word) +
         (m.functions.size() + m.native.size()) * sizeof(std::uint32_t) +
         m.lines.size() * sizeof(Module::LineEntry) +
         m.line_breakpoints.size() * sizeof(Module::LineBreakpoint) +
         m.exports.size() * sizeof(Module::ExportedFunction) + m.funs.size() * 2 * sizeof(void*) +
         m.strings.size();
}

void delete_module_code(Module* m) {
  if (!code_upcalls.forget_heat(*m)) return;
  if (m->literals) free_literals(m->literals);
  delete m;
}

const FunctionHeader* function_header_at(const Word* address) {
  if (const Module* m = module_at(address)) {
    const auto word = static_cast<std::uint32_t>(address - m->begin());
    auto it = std::upper_bound(m->functions.begin(), m->functions.end(), word);
    return it == m->functions.begin() ? nullptr : reinterpret_cast<const FunctionHeader*>(m->begin() + *--it);
  }
  const Export* e = export_of_stub(address);
  return e ? &e->stub.header : nullptr;
}

SourceLocation location_at(const Word* address) {
  if (lines_left_out) return {};
  const Module* m = module_at(address);
  const FunctionHeader* header = m ? function_header_at(address) : nullptr;
  if (!header) return {};
  const auto word = static_cast<std::uint32_t>(address - m->begin());
  const auto first = static_cast<std::uint32_t>(reinterpret_cast<const Word*>(header) - m->begin());
  auto it = std::upper_bound(m->lines.begin(), m->lines.end(), word,
                             [](std::uint32_t w, const Module::LineEntry& l) { return w < l.word; });
  if (it == m->lines.begin() || (--it)->word < first) return {};
  return {&m->files[it->file], it->line};
}

}  // namespace vmrun
