// SPDX-License-Identifier: Apache-2.0
#include "runtime/bif/allocators.hpp"

#include <algorithm>
#include <array>
#include <mutex>
#include <span>
#include <string_view>

#include "runtime/bif/memory_items.hpp"
#include "runtime/bif/support.hpp"
#include "runtime/ets/table.hpp"
#include "vm/base/memory_count.hpp"
#include "vm/base/system_memory.hpp"
#include "vm/code/code_server.hpp"
#include "vm/heap/literal.hpp"
#include "vm/message/send.hpp"
#include "vm/process/process_table.hpp"
#include "vm/sched/scheduler.hpp"
#include "vm/term/big.hpp"

namespace vmrun {
namespace {

// ---- Memory in use ------------------------------------------------------------------------------

struct Use {
  Word count, bytes;
  bool is_mapped = false;  // mapped by itself, so that no free memory of the allocator belongs to it
};

Word memory_item(std::string_view name) {
  for (const auto& [item, bytes] : memory_items())
    if (name == item) return bytes;
  return 0;
}

Use nothing() { return {0, 0}; }
/// Blocks are counted for processes; message fragments count only in bytes.
Use heaps() { return {process_table.count(), memory_counted(MemoryKind::kHeaps)}; }
Use process_structures() { return {process_table.count(), process_table.count() * sizeof(Process)}; }
/// The number of binaries is not known.
Use binaries() { return {1, memory_counted(MemoryKind::kBinaries)}; }
Use tables() {
  Word tables_and_objects = 0;
  ets::for_each_table([&](const ets::Table& t) { tables_and_objects += 1 + t.store->count(); });
  return {tables_and_objects, memory_item("ets")};
}
Use code_and_atoms() {
  return {loaded_modules().size() + atom_count(), memory_item("code") + memory_item("atom")};
}
Use literals() { return {1, literal_words_used() * sizeof(Word), true}; }

struct Allocator {
  std::string_view name;
  Use (*use)();  // nullptr: OTP has it below its allocators, this machine does not
};
constexpr Allocator kAllocators[] = {
    {"temp_alloc", nothing},           {"sl_alloc", nothing},       {"std_alloc", nothing},
    {"ll_alloc", code_and_atoms},      {"eheap_alloc", heaps},      {"ets_alloc", tables},
    {"fix_alloc", process_structures}, {"literal_alloc", literals}, {"binary_alloc", binaries},
    {"driver_alloc", nothing},         {"sys_alloc", nullptr},      {"test_alloc", nullptr},
    {"mseg_alloc", nullptr},           {"erts_mmap", nullptr},
};
constexpr std::size_t kAllocatorCount = std::size(kAllocators);

struct Figures {
  Word count = 0, bytes = 0, held = 0;  // held: memory from the system
};
using AllFigures = std::array<Figures, kAllocatorCount>;

AllFigures figures_now() {
  AllFigures all;
  Word used = 0;
  std::array<bool, kAllocatorCount> is_mapped{};
  for (std::size_t i = 0; i < kAllocatorCount; ++i) {
    const Use use = kAllocators[i].use ? kAllocators[i].use() : nothing();
    is_mapped[i] = use.is_mapped;
    // At least one block when bytes are in use, so that an average can be computed.
    all[i] = {.count = std::max<Word>(use.count, use.bytes != 0), .bytes = use.bytes, .held = use.bytes};
    if (!use.is_mapped) used += use.bytes;
  }
  const Word held = bytes_from_system();
  if (held > used && used)
    for (std::size_t i = 0; i < kAllocatorCount; ++i)
      if (!is_mapped[i])
        all[i].held = static_cast<Word>(static_cast<double>(all[i].bytes) / static_cast<double>(used) *
                                        static_cast<double>(held));
  return all;
}

/// Returns the largest figures that have been reported for each allocator so far.
AllFigures most_reported(const AllFigures& now) {
  static std::mutex mutex;
  static AllFigures most;
  const std::lock_guard guard(mutex);
  for (std::size_t i = 0; i < kAllocatorCount; ++i) {
    most[i].count = std::max(most[i].count, now[i].count);
    most[i].bytes = std::max(most[i].bytes, now[i].bytes);
    most[i].held = std::max(most[i].held, now[i].held);
  }
  return most;
}

// ---- As terms -----------------------------------------------------------------------------------

/// OTP's information about an allocator, in the format of its alloc_util, with one instance.
class Answer {
 public:
  Answer(Process& p, bool sizes_only) : heap_(p.heap), sizes_only_(sizes_only) {}

  Term of(std::size_t index) {
    const Allocator& a = kAllocators[index];
    if (a.name == "erts_mmap") return mapped();
    if (!a.use) return a.name == "sys_alloc" && !sizes_only_ ? instance(list({options(a)})) : atoms::false_;
    const Term name = intern_atom(a.name), many = carriers("mbcs", name, now_[index], most_[index]),
               single = carriers("sbcs", name, {}, {});
    if (sizes_only_) return instance(list({many, single}));
    const Term versions =
        new_tuple(heap_, intern_atom("versions"), text_list(heap_, "0.9"), text_list(heap_, "3.0"));
    return instance(list({versions, options(a), many, single, pair("calls", Term::nil())}));
  }
  Term options(const Allocator& a) {
    const Term enabled = pair("e", atoms::true_);
    if (a.name == "sys_alloc") return pair("options", list({enabled, pair("m", intern_atom("mimalloc"))}));
    return pair("options", list({enabled, pair("t", atoms::false_)}));
  }

 private:
  Term pair(std::string_view name, Term value) { return new_tuple(heap_, intern_atom(name), value); }
  Term list(std::initializer_list<Term> elements) {
    return new_list(heap_, std::span(elements.begin(), elements.size()));
  }
  Term instance(Term inside) {
    return list({new_tuple(heap_, intern_atom("instance"), Term::small(0), inside)});
  }
  /// The memory that all of them together have from the system.
  Term mapped() {
    if (sizes_only_) return list({pair("default_mmap", Term::nil())});
    const Term options = pair("options", list({pair("scs", Term::small(0))})),
               used = pair("sizes", list({pair("used", small(bytes_from_system()))}));
    return list({pair("default_mmap", list({options, pair("os", list({used}))}))});
  }
  Term small(Word n) { return make_unsigned(heap_, n); }
  Term three(std::string_view name, Word now, Word most) {
    return new_tuple(heap_, intern_atom(name), small(now), small(most), small(most));
  }

  /// Blocks of all sizes lie together, so none has a carrier of its own.
  Term carriers(std::string_view kind, Term name, const Figures& now, const Figures& most) {
    ListBuilder blocks(heap_), inside(heap_);
    if (most.bytes) {
      const Term size = three("size", now.bytes, most.bytes);
      blocks.add(new_tuple(heap_, name,
                           sizes_only_ ? list({size}) : list({three("count", now.count, most.count), size})));
    }
    inside.add(pair("blocks", blocks.finish()));
    if (!sizes_only_) {
      inside.add(three("carriers", now.held != 0, most.held != 0));
      inside.add(pair("mseg_alloc_carriers", Term::small(0)));
      inside.add(pair("sys_alloc_carriers", Term::small(now.held != 0)));
    }
    inside.add(three("carriers_size", now.held, most.held));
    if (!sizes_only_) {
      inside.add(pair("mseg_alloc_carriers_size", Term::small(0)));
      inside.add(pair("sys_alloc_carriers_size", small(now.held)));
    }
    return pair(kind, inside.finish());
  }

  Heap& heap_;
  const bool sizes_only_;
  const AllFigures now_ = figures_now(), most_ = most_reported(now_);
};

std::optional<std::size_t> index_of(Term name) {
  if (!name.is_atom()) return {};
  const auto found = std::ranges::find(kAllocators, std::string_view(atom_text(name)), &Allocator::name);
  if (found == std::end(kAllocators)) return {};
  return static_cast<std::size_t>(found - std::begin(kAllocators));
}

std::optional<Term> info_of(Process& p, Term names, bool sizes_only) {
  Answer answer(p, sizes_only);
  if (const auto index = index_of(names)) return answer.of(*index);
  if (!names.is_list()) return {};
  ListBuilder list(p.heap);
  for (; names.is_list(); names = names.tail()) {
    const auto index = index_of(names.head());
    if (!index) return {};
    list.add(new_tuple(p.heap, names.head(), answer.of(*index)));
  }
  return names.is_nil() ? std::optional(list.finish()) : std::nullopt;
}

/// In OTP erlang:memory/0 asks for memory_internal. Here it is built in, so the answer is empty.
std::optional<Term> nothing_of(Process& p, Term names) {
  ListBuilder list(p.heap);
  for (; names.is_list(); names = names.tail()) {
    if (!index_of(names.head())) return {};
    list.add(new_tuple(p.heap, names.head(), atoms::false_));
  }
  return names.is_nil() ? std::optional(list.finish()) : std::nullopt;
}

std::optional<Term> send_info(Process& p, Term ref, Term names, bool sizes_only) {
  if (!ref.is_local_ref() || !names.is_list()) return {};
  const std::optional<Term> all = sizes_only ? info_of(p, names, true) : nothing_of(p, names);
  if (!all) return {};
  for (unsigned n = 1; n <= scheduler_count(); ++n) {
    Arena arena;
    send_from_vm(p.id, new_tuple(arena, ref, Term::small(n), n == 1 ? *all : Term::nil()));
  }
  return atoms::true_;
}

}  // namespace

std::optional<Term> allocator_item(Process& p, Term item) {
  static const Term allocator = intern_atom("allocator"), sizes = intern_atom("allocator_sizes"),
                    internal = intern_atom("memory_internal");
  const Term what = item.element(0);
  const bool wants_sizes = what == sizes;
  if (item.tuple_arity() == 2 && (wants_sizes || what == allocator))
    return info_of(p, item.element(1), wants_sizes);
  if (item.tuple_arity() == 3 && (wants_sizes || what == internal))
    return send_info(p, item.element(1), item.element(2), wants_sizes);
  return {};
}

Term allocator_settings(Process& p) {
  Answer answer(p, false);
  ListBuilder names(p.heap), settings(p.heap);
  for (const Allocator& a : kAllocators) {
    if (!a.use && a.name != "sys_alloc") continue;
    const Term name = intern_atom(a.name);
    names.add(name);
    settings.add(new_tuple(p.heap, name, answer.options(a).element(1)));
  }
  const Term all_names = names.finish();
  return new_tuple(p.heap, atoms::undefined, Term::nil(), all_names, settings.finish());
}

Term allocator_names(Process& p) {
  ListBuilder list(p.heap);
  for (const Allocator& a : kAllocators)
    if (a.use) list.add(intern_atom(a.name));
  return list.finish();
}

}  // namespace vmrun
