// SPDX-License-Identifier: Apache-2.0
#include "vm/process/registry.hpp"

#include <mutex>

#include "vm/base/small_limits.hpp"
#include "vm/heap/heap_upcalls.hpp"
#include "vm/heap/off_heap.hpp"
#include "vm/probes/fire.hpp"
#include "vm/process/process_table.hpp"
#include "vm/process/process_upcalls.hpp"

namespace vmrun {

namespace {

// Words by atom index, in chunks that are made when a name in them is first registered. A word is
// the pid or port, 0 for none.
constexpr std::uint32_t kChunkBits = usual_or_small<std::uint32_t>(10, 2), kChunk = 1u << kChunkBits;
std::atomic<std::atomic<Word>*> chunks[kAtomCapacity / kChunk];
std::mutex changing;

std::atomic<Word>* find_slot(Term name) {
  std::atomic<Word>* chunk = chunks[name.atom_index() >> kChunkBits].load(std::memory_order_acquire);
  return chunk ? &chunk[name.atom_index() & (kChunk - 1)] : nullptr;
}

std::atomic<Word>& make_slot(Term name) {
  if (auto* slot = find_slot(name)) return *slot;
  auto* chunk = new std::atomic<Word>[kChunk]();
  chunks[name.atom_index() >> kChunkBits].store(chunk, std::memory_order_release);
  return chunk[name.atom_index() & (kChunk - 1)];
}

}  // namespace

Term whereis(Term name) {
  const auto* slot = find_slot(name);
  return slot ? Term::from_raw(slot->load(std::memory_order_acquire)) : kNonValue;
}

namespace {

[[gnu::cold, gnu::noinline]] void fire_register(Term name, Term who) {
  probe::fire_name_register(name, who, heap_upcalls.current_process_id());
}
[[gnu::cold, gnu::noinline]] void fire_unregister(Term name, Word who, bool ends) {
  probe::fire_name_unregister(name, Term::from_raw(who), heap_upcalls.current_process_id(), ends);
}

/// Called under the lock, so that the events of a name are fired in the order of its changes.
void set_name(std::atomic<Word>& slot, Term name, Term who) {
  if (probe::name_register_enabled()) [[unlikely]]
    fire_register(name, who);
  slot.store(who.raw(), std::memory_order_release);
}
void clear_name(std::atomic<Word>& slot, Term name, bool ends) {
  if (probe::name_unregister_enabled()) [[unlikely]]
    fire_unregister(name, slot.load(std::memory_order_relaxed), ends);
  slot.store(0, std::memory_order_release);
}

/// This function and the next ones serve processes and ports; `gone` returns whether the holder
/// exits.
template <class Gone>
RegisterResult refusal(Term name, const std::atomic<std::uint32_t>& has, Gone gone) {
  if (gone()) return RegisterResult::kNoProcess;
  if (has.load(std::memory_order_relaxed)) return RegisterResult::kHasName;
  return whereis(name) ? RegisterResult::kNameTaken : RegisterResult::kOk;
}

template <class Gone>
RegisterResult enter(Term name, Term who, std::atomic<std::uint32_t>& has, Gone gone) {
  if (const auto why = refusal(name, has, gone); why != RegisterResult::kOk) return why;
  std::atomic<Word>& slot = make_slot(name);
  set_name(slot, name, who);
  // Pairs with give_up: either that sees the name, or this sees that the holder exits.
  has.store(name.atom_index() + 1, std::memory_order_seq_cst);
  if (!gone()) return RegisterResult::kOk;
  has.store(0, std::memory_order_relaxed);
  clear_name(slot, name, true);
  return RegisterResult::kNoProcess;
}

void give_up(std::atomic<std::uint32_t>& has) {
  if (has.load(std::memory_order_seq_cst) == 0) return;
  std::lock_guard guard(changing);
  const std::uint32_t name = has.load(std::memory_order_relaxed);
  if (name == 0) return;
  clear_name(*find_slot(Term::atom(name - 1)), Term::atom(name - 1), true);
  has.store(0, std::memory_order_relaxed);
}

/// Calls use(has, gone) for the process or port, if it exists: `has` stores its name, `gone`
/// returns whether it exits.
template <class Use>
RegisterResult use_holder(Term who, Use use) {
  if (who.is_local_port()) {
    std::atomic<std::uint32_t>* has = process_upcalls.port_name(who);
    return has ? use(*has, [&] { return !process_upcalls.port_is_open(who); }) : RegisterResult::kNoProcess;
  }
  Process* p = process_table.find(who);
  return p ? use(p->registered_name, [&] { return p->exiting.load(std::memory_order_seq_cst); })
           : RegisterResult::kNoProcess;
}

}  // namespace

RegisterResult register_name(Term name, Term who) {
  std::lock_guard guard(changing);
  return use_holder(who, [&](auto& has, auto gone) { return enter(name, who, has, gone); });
}

RegisterResult why_not_register(Term name, Term who) {
  std::lock_guard guard(changing);
  return use_holder(who, [&](auto& has, auto gone) { return refusal(name, has, gone); });
}

bool unregister_name(Term name) {
  std::lock_guard guard(changing);
  std::atomic<Word>* slot = find_slot(name);
  if (!slot) return false;
  const Term who = Term::from_raw(slot->load(std::memory_order_relaxed));
  if (!who) return false;
  clear_name(*slot, name, false);
  if (who.is_local_port()) {
    if (auto* has = process_upcalls.port_name(who)) has->store(0, std::memory_order_relaxed);
  } else if (Process* p = process_table.find(who)) {
    p->registered_name.store(0, std::memory_order_relaxed);
  }
  return true;
}

void give_up_name(std::atomic<std::uint32_t>& has) { give_up(has); }

void for_each_name(void (*visit)(void* context, Term name), void* context) {
  const auto used = static_cast<std::uint32_t>((atom_count() + kChunk - 1) / kChunk);
  for (std::uint32_t c = 0; c < used; ++c) {
    std::atomic<Word>* chunk = chunks[c].load(std::memory_order_acquire);
    if (!chunk) continue;
    for (std::uint32_t i = 0; i < kChunk; ++i)
      if (chunk[i].load(std::memory_order_relaxed)) visit(context, Term::atom(c << kChunkBits | i));
  }
}

}  // namespace vmrun
