// SPDX-License-Identifier: Apache-2.0
#include "vm/code/patches.hpp"

#include <algorithm>
#include <atomic>
#include <bit>
#include <mutex>

#include "vm/base/retired.hpp"
#include "vm/code/code_upcalls.hpp"
#include "vm/code/hot_code.hpp"
#include "vm/code/instructions.hpp"

namespace vmrun {

/// A hash table with open addressing and linear probing; at most half of the places are taken. It
/// is never changed once other threads see it.
struct PatchTable {
  explicit PatchTable(std::size_t count) : places(std::bit_ceil(2 * count + 2)) {}

  std::size_t home(const Word* at) const {
    return (reinterpret_cast<Word>(at) * 0x9E3779B97F4A7C15 >> 32) & (places.size() - 1);
  }
  /// Returns the place where the patch is, or where it goes.
  Patch& place(const Word* at) {
    std::size_t n = home(at);
    while (places[n].at && places[n].at != at) n = (n + 1) & (places.size() - 1);
    return places[n];
  }
  const Patch& place(const Word* at) const { return const_cast<PatchTable*>(this)->place(at); }

  std::vector<Patch> places;
  // When a patched instruction is changed, the table is replaced by one with the new operation; the
  // former tables are freed with this one.
  const PatchTable* before = nullptr;
  PatchTable* next_retired = nullptr;
};

namespace {

std::atomic<const PatchTable*> current{new PatchTable(0)};
// Held while operations are changed.
std::mutex changing;

/// Released for threads that read an operation, or that find no `probed` after they found no patch.
void publish(const PatchTable* table) { current.store(table, std::memory_order_release); }

}  // namespace

Patch patch_at(const Word* at) {
  // Acquire: the thread that stored `probed` has put the patch into the table before.
  if (operation_word(at).load(std::memory_order_acquire) != op::probed) return {};
  return current.load(std::memory_order_acquire)->place(at);
}

std::uint16_t operation_at(const Word* at) {
  for (;;) {
    const std::uint16_t operation = operation_word(at).load(std::memory_order_acquire);
    if (operation == op::machine_code) {
      const std::uint16_t before = operation_as_it_was(hot_code(at));
      if (before != op::look_again) return before;
      continue;
    }
    if (operation != op::probed) return operation;
    // No patch: it has just been removed, and the original operation stands there again.
    if (const Patch patch = patch_at(at); patch.at) return patch.operation;
  }
}

std::mutex& changing_operations() { return changing; }

bool is_patched(const Word* at) { return operation_word(at).load(std::memory_order_relaxed) == op::probed; }

void set_operations(std::span<const NewOperation> all) {
  const std::lock_guard lock(changing);
  const PatchTable* table = current.load(std::memory_order_relaxed);
  PatchTable* next = nullptr;
  for (const NewOperation& n : all) {
    code_upcalls.cool(n.at);
    if (!table->place(n.at).at) {
      operation_word(n.at).store(n.operation, std::memory_order_release);
      continue;
    }
    if (!next) next = new PatchTable(*table);
    next->place(n.at).operation = n.operation;
  }
  if (!next) return;
  next->before = table;
  publish(next);
}

std::vector<Patch> all_patches() {
  const std::lock_guard lock(changing);
  std::vector<Patch> all;
  for (const Patch& p : current.load(std::memory_order_relaxed)->places)
    if (p.at) all.push_back(p);
  return all;
}

const PatchTable* set_patches(const std::vector<Patch>& patches) {
  const std::lock_guard lock(changing);
  const PatchTable* before = current.load(std::memory_order_relaxed);
  auto* after = new PatchTable(patches.size());
  for (const Patch& p : patches) {
    const Patch& known = before->place(p.at);
    if (!known.at) code_upcalls.cool(p.at);
    Patch& place = after->place(p.at);
    place = p;
    place.operation = known.at ? known.operation : operation_word(p.at).load(std::memory_order_relaxed);
  }
  // A thread that finds `probed` at an instruction that is not patched any more must still find the
  // original operation in the table. So a table with both the old and the new patches comes first.
  std::vector<const Patch*> gone;
  for (const Patch& p : before->places)
    if (p.at && !after->place(p.at).at) gone.push_back(&p);
  const PatchTable* final_table = after;
  if (!gone.empty()) {
    auto* both = new PatchTable(patches.size() + gone.size());
    for (const Patch& p : after->places)
      if (p.at) both->place(p.at) = p;
    for (const Patch* p : gone) both->place(p->at) = *p;
    both->before = before;
    before = both;
    publish(both);
  } else {
    publish(after);
  }
  for (const Patch& p : after->places)
    if (p.at) operation_word(p.at).store(op::probed, std::memory_order_release);
  for (const Patch* p : gone) operation_word(p->at).store(p->operation, std::memory_order_release);
  publish(final_table);
  return before;
}

void free_patches(const PatchTable* table) {
  while (table) {
    const PatchTable* before = table->before;
    delete table;
    table = before;
  }
}

void retire_patches(const PatchTable* table) {
  if (!table) return;
  static std::mutex mutex;
  static auto& retired = *new Retired<PatchTable, &PatchTable::next_retired>;
  const std::lock_guard lock(mutex);
  retired.retire(const_cast<PatchTable&>(*table));
  retired.stamp();
  retired.reclaim([](PatchTable& it) { free_patches(&it); });
}

}  // namespace vmrun
