#include "vm/process/registry.hpp"

#include <mutex>

#include "vm/process/table.hpp"

namespace vmrun {
namespace {

// Words by atom index, in chunks made when a name in them is registered for the first time: the pid's raw word, 0 for none.
constexpr std::uint32_t kChunkBits = 10, kChunk = 1u << kChunkBits;
std::atomic<std::atomic<Word>*> chunks[kAtomLimit / kChunk];
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

RegisterResult register_name(Term name, Term pid) {
  std::lock_guard guard(changing);
  Process* p = process_table.find(pid);
  if (!p || p->exiting.load(std::memory_order_seq_cst)) return RegisterResult::kNoProcess;
  std::atomic<Word>& slot = make_slot(name);
  if (slot.load(std::memory_order_relaxed)) return RegisterResult::kNameTaken;
  if (p->registered_name.load(std::memory_order_relaxed)) return RegisterResult::kHasName;
  slot.store(pid.raw(), std::memory_order_release);
  // Against unregister_process: either that sees the name, or this sees that p exits.
  p->registered_name.store(name.atom_index() + 1, std::memory_order_seq_cst);
  if (!p->exiting.load(std::memory_order_seq_cst)) return RegisterResult::kOk;
  p->registered_name.store(0, std::memory_order_relaxed);
  slot.store(0, std::memory_order_release);
  return RegisterResult::kNoProcess;
}

bool unregister_name(Term name) {
  std::lock_guard guard(changing);
  std::atomic<Word>* slot = find_slot(name);
  if (!slot) return false;
  const Term pid = Term::from_raw(slot->load(std::memory_order_relaxed));
  if (!pid) return false;
  slot->store(0, std::memory_order_release);
  if (Process* p = process_table.find(pid)) p->registered_name.store(0, std::memory_order_relaxed);
  return true;
}

void unregister_process(Process& p) {
  if (p.registered_name.load(std::memory_order_seq_cst) == 0) return;
  std::lock_guard guard(changing);
  const std::uint32_t name = p.registered_name.load(std::memory_order_relaxed);
  if (name == 0) return;
  if (auto* slot = find_slot(Term::atom(name - 1))) slot->store(0, std::memory_order_release);
  p.registered_name.store(0, std::memory_order_relaxed);
}

void for_each_name(void (*visit)(void* context, Term name), void* context) {
  for (std::uint32_t c = 0; c < kAtomLimit / kChunk; ++c) {
    std::atomic<Word>* chunk = chunks[c].load(std::memory_order_acquire);
    if (!chunk) continue;
    for (std::uint32_t i = 0; i < kChunk; ++i)
      if (chunk[i].load(std::memory_order_relaxed)) visit(context, Term::atom(c << kChunkBits | i));
  }
}

}  // namespace vmrun
