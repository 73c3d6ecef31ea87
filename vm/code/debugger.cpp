// SPDX-License-Identifier: Apache-2.0
#include "vm/code/debugger.hpp"

#include <cstdint>
#include <mutex>
#include <unordered_map>
#include <vector>

#include "vm/code/code_server.hpp"
#include "vm/code/function_probes.hpp"
#include "vm/code/instructions.hpp"
#include "vm/code/module.hpp"
#include "vm/term/fun.hpp"

namespace vmrun {
namespace {

std::mutex changing;
// It may keep entries of code that is gone; they are never read, because an entry counts only where
// call_debugger stands in the code.
std::unordered_map<const Word*, std::uint16_t>& originals() {
  static std::unordered_map<const Word*, std::uint16_t> all;
  return all;
}

}  // namespace

std::size_t set_debugged(Term module, std::optional<Term> function, std::optional<unsigned> arity, bool on) {
  const std::lock_guard lock(changing);
  const Module* const m = current_module(module);
  if (!m) return 0;
  std::vector<NewOperation> changes;
  std::size_t count = 0;
  for (const std::uint32_t offset : m->functions) {
    const auto* header = reinterpret_cast<const FunctionHeader*>(m->begin() + offset);
    if ((function && header->function != *function) || (arity && header->arity != *arity)) continue;
    const Word* const entry = header->entry();
    const std::uint16_t there = operation_at(entry);
    if (there == op::call_nif || there == op::call_dirty_nif) continue;
    ++count;
    if ((there == op::call_debugger) == on) continue;
    if (on) originals()[entry] = there;
    changes.push_back(
        {const_cast<Word*>(entry), on ? std::uint16_t{op::call_debugger} : originals().at(entry)});
  }
  if (!changes.empty()) replace_operations(changes);
  return count;
}

}  // namespace vmrun
