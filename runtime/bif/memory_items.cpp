// SPDX-License-Identifier: Apache-2.0
#include "runtime/bif/memory_items.hpp"

#include "runtime/bif/bifs_generated.hpp"
#include "runtime/bif/system_items.hpp"
#include "runtime/ets/table.hpp"
#include "vm/base/memory_count.hpp"
#include "vm/code/code_server.hpp"
#include "vm/heap/literal.hpp"
#include "vm/hot/heating.hpp"
#include "vm/process/process_table.hpp"

namespace vmrun {
namespace {

struct Memory {
  Word total, processes, system, atom, binary, code, ets;
};

Word code_bytes() {
  Word sum = all_exports().size() * sizeof(Export) + hot_code_use().codes.page_bytes;
  for (const Module* m : loaded_modules()) {
    sum += module_bytes(*m);
    if (const Module* old = old_module(m->name)) sum += module_bytes(*old);
  }
  return sum;
}

Word table_bytes() {
  Word sum = 0;
  ets::for_each_table([&](const ets::Table& t) { sum += t.memory_words() * sizeof(Word); });
  return sum;
}

/// Memory divided as in OTP. `processes` are their structures, heaps and messages. The rest is
/// `system`, in which literals (persistent terms, constants of modules) have no item of their own.
/// Memory that the allocator keeps for later, or that belongs to none of these, is not counted.
Memory measure() {
  Memory m{};
  m.processes = process_table.count() * sizeof(Process) + memory_counted(MemoryKind::kHeaps);
  m.atom = atom_count() * 48;
  m.binary = memory_counted(MemoryKind::kBinaries);
  m.code = code_bytes();
  m.ets = table_bytes();
  m.system = m.atom + m.binary + m.code + m.ets + literal_words_used() * sizeof(Word);
  m.total = m.processes + m.system;
  return m;
}

struct MemoryItem {
  const char* name;
  Word Memory::*field;
};
const MemoryItem kMemory[] = {
    {"total", &Memory::total},   {"processes", &Memory::processes}, {"processes_used", &Memory::processes},
    {"system", &Memory::system}, {"atom", &Memory::atom},           {"atom_used", &Memory::atom},
    {"binary", &Memory::binary}, {"code", &Memory::code},           {"ets", &Memory::ets},
};

Term memory_item(Process& p, const Memory& m, Term name) {
  if (!name.is_atom()) return kNonValue;
  for (const MemoryItem& item : kMemory)
    if (atom_text(name) == item.name) return number_term(p, m.*item.field);
  return kNonValue;
}

}  // namespace

std::vector<std::pair<const char*, Word>> memory_items() {
  const Memory m = measure();
  std::vector<std::pair<const char*, Word>> items;
  for (const MemoryItem& item : kMemory) items.emplace_back(item.name, m.*item.field);
  return items;
}

Term bif_erlang_memory_0(Process& p, const Term*) {
  const Memory m = measure();
  ListBuilder list(p.heap);
  for (const MemoryItem& item : kMemory)
    list.add(new_tuple(p.heap, intern_atom(item.name), number_term(p, m.*item.field)));
  return list.finish();
}
Term bif_erlang_memory_1(Process& p, const Term* a) {
  const Memory m = measure();
  if (!a[0].is_cons_or_nil()) {
    const Term value = memory_item(p, m, a[0]);
    return value ? value : raise_badarg(p);
  }
  ListBuilder list(p.heap);
  Term rest = a[0];
  for (; rest.is_list(); rest = rest.tail()) {
    const Term value = memory_item(p, m, rest.head());
    if (!value) return raise_badarg(p);
    list.add(new_tuple(p.heap, rest.head(), value));
  }
  return rest.is_nil() ? list.finish() : raise_badarg(p);
}

}  // namespace vmrun
