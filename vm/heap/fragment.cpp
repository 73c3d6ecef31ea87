// SPDX-License-Identifier: Apache-2.0
#include "vm/heap/fragment.hpp"

#include "vm/base/allocate.hpp"
#include "vm/base/memory_count.hpp"
#include "vm/heap/collector.hpp"
#include "vm/heap/copy.hpp"
#include "vm/heap/off_heap.hpp"
#include "vm/probes/fire.hpp"

namespace vmrun {

Fragment* Fragment::create(Word capacity_words) {
  if (capacity_words > UINT32_MAX) [[unlikely]]
    return nullptr;
  const std::size_t bytes = fragment_bytes(capacity_words);
  auto* f = static_cast<Fragment*>(try_allocate_bytes(bytes));
  if (!f) [[unlikely]]
    return nullptr;
  count_memory_taken(MemoryKind::kHeaps, bytes);
  f->next = nullptr;
  f->capacity_words = static_cast<std::uint32_t>(capacity_words);
  f->used_words = 0;
  f->off_heap = nullptr;
  f->message = f->token = Term::nil();
  f->kind = 0;
  f->known_words = 0;
  f->from_vm = f->has_sender = f->token_generation = 0;
  return f;
}

void Fragment::destroy(Fragment* f) {
  release_off_heap_list(f->off_heap);
  count_memory_given(MemoryKind::kHeaps, fragment_bytes(f->capacity_words));
  free_bytes(f);
}

Fragment* new_fragment(Word words) {
  Fragment* f = Fragment::create(words);
  if (!f) [[unlikely]]
    out_of_memory("a message", words * sizeof(Term));
  return f;
}

namespace {

[[gnu::always_inline]] inline Term copy_untraced(Fragment& f, Term t, Literals literals) {
  Term* hp = f.words + f.used_words;
  const Term copy = copy_term(t, hp, f.off_heap, literals);
  f.used_words = static_cast<std::uint32_t>(hp - f.words);
  assert(f.used_words <= f.capacity_words);
  return copy;
}

// A function of its own, so that the common path does not pay for the probe.
[[gnu::cold, gnu::noinline]] Term copy_traced(Fragment& f, Term t, Literals literals) {
  announce_copy(t);
  return copy_untraced(f, t, literals);
}

}  // namespace

Word message_words(Fragment& f) {
  if (f.known_words) return f.known_words;
  const Word words = size_words(f.message);
  note_message_words(f, words);
  return words;
}

[[gnu::no_stack_protector]] Term copy_into(Fragment& f, Term t, Literals literals) {
  if (t.is_immed()) return t;
  if (probe::copy_struct_enabled()) [[unlikely]]
    return copy_traced(f, t, literals);
  return copy_untraced(f, t, literals);
}

}  // namespace vmrun
