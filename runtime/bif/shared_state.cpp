// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <atomic>
#include <bit>
#include <cstddef>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "runtime/bif/internal_state.hpp"
#include "runtime/bif/reduction_budget.hpp"
#include "runtime/bif/support.hpp"
#include "runtime/bif/system_texts.hpp"
#include "vm/base/epoch.hpp"
#include "vm/code/reclaim.hpp"
#include "vm/heap/copy.hpp"
#include "vm/heap/literal.hpp"
#include "vm/nif/resource.hpp"
#include "vm/process/dirty_job.hpp"
#include "vm/sched/scheduler.hpp"
#include "vm/term/big.hpp"
#include "vm/term/compare.hpp"
#include "vm/term/hash.hpp"
#include "vm/term/map.hpp"

/// State that all processes share: persistent_term, atomics, counters. Reading takes no lock.
namespace vmrun {

// ---- persistent_term ----------------------------------------------------------------------------
// Keys and values are literals, so they are not copied when they are read. The table has open
// addressing and holds pointers to entries; writers are serialised. An entry stays and its value is
// replaced, until the table is rebuilt after the value was erased. Readers may still use an entry
// or table that has been removed, and processes refer to replaced terms, so all of these are
// retired (vm/code/reclaim.hpp).

namespace {

struct PersistentEntry {
  const Term key;
  const std::uint64_t hash;
  std::atomic<Term> value{kNonValue};  // the non-value when erased; release: what it points to is there
  // Read only while the lock is held. nullptr for an immediate.
  LiteralBlock* const key_block;
  LiteralBlock* value_block = nullptr;

  Term read() const { return value.load(std::memory_order_acquire); }
};

struct PersistentTable {
  explicit PersistentTable(std::size_t size)
      : mask(size - 1), slots(new std::atomic<PersistentEntry*>[size]()) {}
  std::size_t mask;
  std::unique_ptr<std::atomic<PersistentEntry*>[]> slots;

  std::atomic<PersistentEntry*>& slot(Term key, std::uint64_t hash) {
    for (std::size_t i = hash & mask;; i = (i + 1) & mask) {
      PersistentEntry* e = slots[i].load(std::memory_order_acquire);
      if (!e || (e->hash == hash && equal_exact(e->key, key))) return slots[i];
    }
  }
};

std::mutex persistent_lock;
std::size_t persistent_used = 0, persistent_live = 0;  // slots taken; values among them
Word persistent_words = 0;                             // of literals, without the erased ones
constexpr std::size_t kPersistentSlots = 64;           // at least
std::atomic<PersistentTable*> persistent{new PersistentTable(kPersistentSlots)};

PersistentEntry* persistent_find(Term key) {
  return persistent.load(std::memory_order_acquire)
      ->slot(key, hash_term(key))
      .load(std::memory_order_acquire);
}

/// What has been replaced; it is retired after the lock is given back.
struct Replaced {
  std::vector<PersistentEntry*> entries;  // erased before
  LiteralBlock* value = nullptr;
  PersistentTable* table = nullptr;
  ~Replaced() {
    if (value) retire_literals(value);
    for (PersistentEntry* e : entries) {
      if (e->key_block) retire_literals(e->key_block);
      retire(sizeof *e, [e] { delete e; });
    }
    if (table) retire((table->mask + 1) * sizeof(void*), [t = table] { delete t; });
  }
};

/// Makes a table without erased entries, two to four times as large as its contents.
void persistent_rebuild(Replaced& replaced) {
  PersistentTable* old = persistent.load(std::memory_order_relaxed);
  auto* fresh =
      new PersistentTable(std::bit_ceil(std::max<std::size_t>(2 * (persistent_live + 1), kPersistentSlots)));
  persistent_used = 0;
  for (std::size_t i = 0; i <= old->mask; ++i) {
    PersistentEntry* e = old->slots[i].load(std::memory_order_relaxed);
    if (!e) continue;
    if (!e->value.load(std::memory_order_relaxed)) {
      replaced.entries.push_back(e);
      continue;
    }
    fresh->slot(e->key, e->hash).store(e, std::memory_order_relaxed);
    ++persistent_used;
  }
  persistent.store(fresh, std::memory_order_release);
  replaced.table = old;
}

std::size_t persistent_slots() { return persistent.load(std::memory_order_relaxed)->mask + 1; }

/// Whether so few slots are in use that the table shrinks. (It grows when half of them are.)
bool persistent_sparse() {
  const std::size_t slots = persistent_slots();
  return slots > kPersistentSlots && 4 * persistent_live < slots;
}

enum class Set { kNew, kThere, kNothing, kNoRoom, kTooLong, kOther };

/// Adds an entry without a value. Returns kNew, or why it cannot.
Set persistent_enter(Term key, std::uint64_t hash, Replaced& replaced, PersistentEntry** entry) {
  const Word mask = persistent.load(std::memory_order_relaxed)->mask;
  const bool grows = 2 * (persistent_used + 1) > mask + 1;
  if (grows && too_long(mask)) return Set::kTooLong;
  LiteralBlock* block;
  if (!make_literals(&key, 1, &block)) return Set::kNoRoom;
  *entry = new PersistentEntry{.key = key, .hash = hash, .key_block = block};
  if (grows) persistent_rebuild(replaced);
  ++persistent_used;
  persistent.load(std::memory_order_relaxed)->slot(key, hash).store(*entry, std::memory_order_release);
  return Set::kNew;
}

/// Sets or, with the non-value, erases a value. Returns whether there was a value before. With
/// kNoRoom and kTooLong nothing has been done. Only a scheduler gets kTooLong: when the table is
/// large and has to grow, or when the thread would have to wait for another one. only_new: a value
/// that is there is kept, and the answer is kOther.
Set persistent_set(Term key, Term value, bool only_new = false) {
  const bool here = dirty_thread_kind() == DirtyKind::kNone;
  Replaced replaced;
  std::unique_lock guard(persistent_lock, std::defer_lock);
  if (!here) guard.lock();
  else if (!guard.try_lock()) return Set::kTooLong;
  const std::uint64_t hash = hash_term(key);
  PersistentEntry* entry =
      persistent.load(std::memory_order_relaxed)->slot(key, hash).load(std::memory_order_relaxed);
  const Term old = entry ? entry->value.load(std::memory_order_relaxed) : kNonValue;
  if (old && value && equal_exact(old, value)) return Set::kThere;
  if (old && only_new) return Set::kOther;
  if (!old && !value) return Set::kNothing;
  LiteralBlock* block = nullptr;
  if (value && !make_shared_literal(&value, &block)) return Set::kNoRoom;
  if (!entry) {
    if (const Set failed = persistent_enter(key, hash, replaced, &entry); failed != Set::kNew) {
      if (block) free_literals(block);
      return failed;
    }
  }
  const Word key_words = entry->key_block ? entry->key_block->words : 0;
  if (value && !old) persistent_words += key_words;
  if (old && !value) persistent_words -= key_words;
  if (block) persistent_words += block->words;
  if (entry->value_block) persistent_words -= entry->value_block->words;
  replaced.value = std::exchange(entry->value_block, block);
  entry->value.store(value, std::memory_order_release);
  persistent_live += static_cast<std::size_t>(value.is_value()) - static_cast<std::size_t>(old.is_value());
  if (!value && persistent_sparse()) persistent_rebuild(replaced);
  return old ? Set::kThere : Set::kNew;
}

Term set_answer(Set result) {
  switch (result) {
    case Set::kNoRoom: return atoms::system_limit;
    case Set::kTooLong: return kNonValue;
    case Set::kNothing:
    case Set::kOther: return atoms::false_;
    default: return atoms::true_;
  }
}

/// Runs on a dirty scheduler. Arguments: [Key, Value], or [Key] to erase.
Term put_on_dirty(Process&, const Term* a) {
  const EpochGuard guard;
  look_at_leaving_literals();
  return set_answer(persistent_set(a[0], a[1]));
}
Term put_new_on_dirty(Process&, const Term* a) {
  const EpochGuard guard;
  look_at_leaving_literals();
  return set_answer(persistent_set(a[0], a[1], true));
}
Term erase_on_dirty(Process&, const Term* a) {
  const EpochGuard guard;
  return set_answer(persistent_set(a[0], kNonValue));
}

Term erase_all_on_dirty(Process&, const Term*) {
  const EpochGuard guard;
  look_at_leaving_literals();
  const PersistentTable* table = persistent.load(std::memory_order_acquire);
  for (std::size_t i = 0; i <= table->mask; ++i) {
    const PersistentEntry* e = table->slots[i].load(std::memory_order_acquire);
    if (e && e->read() && persistent_set(e->key, kNonValue) == Set::kNoRoom) return atoms::system_limit;
  }
  return atoms::true_;
}

/// Returns the answer. With the non-value, returns to the interpreter as a built-in function does.
/// on_dirty: the same call on a dirty scheduler.
Term set_or_wait(Process& p, const Term* a, unsigned arity, BifFn on_dirty) {
  Term answer;
  if (came_back(p)) {
    answer = run_on_dirty(p, on_dirty, a, arity);
  } else {
    if (wait_for_reclaim(p)) return kNonValue;
    const SWord words = arity == 2 ? size_words_within(steps_here(), a[1]) : 0;
    if (words < 0) return run_on_dirty(p, on_dirty, a, arity);
    bump_reductions(p, words / 16);
    answer = set_answer(persistent_set(a[0], arity == 2 ? a[1] : kNonValue, on_dirty == put_new_on_dirty));
    if (!answer) return run_on_dirty(p, on_dirty, a, arity);
  }
  if (answer != atoms::system_limit) return answer;
  return wait_for_reclaim(p, true) ? kNonValue : raise_system_limit(p);
}

}  // namespace

Term bif_persistent_term_put_2(Process& p, const Term* a) {
  return set_or_wait(p, a, 2, put_on_dirty) ? atoms::ok : kNonValue;
}
/// Sets a value unless there is another one already.
Term bif_persistent_term_put_new_2(Process& p, const Term* a) {
  const Term answer = set_or_wait(p, a, 2, put_new_on_dirty);
  return answer == atoms::false_ ? raise_badarg(p) : answer ? atoms::ok : kNonValue;
}
Term bif_persistent_term_erase_1(Process& p, const Term* a) { return set_or_wait(p, a, 1, erase_on_dirty); }
/// Erases all terms. Those that other processes add meanwhile may stay.
Term bif_erts_internal_erase_persistent_terms_0(Process& p, const Term* a) {
  if (!came_back(p) && wait_for_reclaim(p)) return kNonValue;
  const Term answer = run_on_dirty(p, erase_all_on_dirty, a, 0);
  if (answer != atoms::system_limit) return answer;
  return wait_for_reclaim(p, true) ? kNonValue : raise_system_limit(p);
}
Term bif_persistent_term_get_1(Process& p, const Term* a) {
  const PersistentEntry* e = persistent_find(a[0]);
  const Term value = e ? e->read() : kNonValue;
  return value ? value : raise_badarg(p);
}
Term bif_persistent_term_get_2(Process&, const Term* a) {
  const PersistentEntry* e = persistent_find(a[0]);
  const Term value = e ? e->read() : kNonValue;
  return value ? value : a[1];
}
Term bif_persistent_term_get_0(Process& p, const Term* a) {
  const EpochGuard guard;
  if (came_back(p) || too_long(persistent.load(std::memory_order_acquire)->mask))
    return run_on_dirty(p, bif_persistent_term_get_0, a, 0);
  ListBuilder list(p.heap);
  PersistentTable* table = persistent.load(std::memory_order_acquire);
  for (std::size_t i = 0; i <= table->mask; ++i)
    if (const PersistentEntry* e = table->slots[i].load(std::memory_order_acquire))
      if (const Term value = e->read()) list.add(new_tuple(p.heap, e->key, value));
  return list.finish();
}
Term bif_persistent_term_info_0(Process& p, const Term*) {
  std::lock_guard guard(persistent_lock);
  const Word bytes = persistent_slots() * sizeof(void*) + persistent_live * sizeof(PersistentEntry) +
                     persistent_words * sizeof(Term);
  Term pairs[] = {intern_atom("count"), Term::small(static_cast<SWord>(persistent_live)), atoms::memory,
                  Term::small(static_cast<SWord>(bytes))};
  return map_from_pairs(p.heap, pairs, 2);
}

/// For erts_debug:get_internal_state/1.
Term persistent_term_state(Process& p) {
  std::lock_guard guard(persistent_lock);
  Term pairs[] = {intern_atom("table"), Term::small(static_cast<SWord>(persistent_slots()))};
  return map_from_pairs(p.heap, pairs, 1);
}

void for_each_persistent_term(const std::function<void(Term key, Term value)>& visit) {
  const std::lock_guard guard(persistent_lock);
  const PersistentTable& table = *persistent.load(std::memory_order_relaxed);
  for (std::size_t i = 0; i <= table.mask; ++i)
    if (const PersistentEntry* e = table.slots[i].load(std::memory_order_relaxed))
      if (const Term value = e->read()) visit(e->key, value);
}

// ---- atomics and counters -----------------------------------------------------------------------
// An array is a resource: each copy of its reference keeps it, and the last one frees it.

namespace {

/// Counters for many writers have a lane for each scheduler and one for all other threads, each in
/// cache lines of its own, so that writers do not disturb each other. The value is the sum. All
/// other arrays have one lane.
struct AtomicArray {
  Word size;
  bool is_signed, is_counter;
  std::uint16_t lanes;
  std::uint16_t first;         // with several lanes: the first cell, at the start of a cache line
  std::atomic<Word> cells[1];  // lanes * lane_cells() of them after those, zero at first

  static constexpr Word kLineCells = 8;
  Word lane_cells() const { return lanes == 1 ? size : (size + kLineCells - 1) & ~(kLineCells - 1); }
  Word bytes() const {
    const Word skipped = lanes == 1 ? 0 : kLineCells - 1;
    return offsetof(AtomicArray, cells) + (skipped + lanes * lane_cells()) * sizeof(Word);
  }
  void find_first() {
    const Word into_line = reinterpret_cast<Word>(cells) / sizeof(Word) % kLineCells;
    first = lanes == 1 || into_line == 0 ? 0 : static_cast<std::uint16_t>(kLineCells - into_line);
  }
  std::atomic<Word>& own_lane(std::atomic<Word>& first) const {
    if (lanes == 1) [[likely]]
      return first;
    const Scheduler* s = dirty_thread_kind() == DirtyKind::kNone ? this_scheduler() : nullptr;
    return *(&first + (s ? s->number : 0) * lane_cells());
  }
};

ErlNifResourceType& array_type() {
  static auto& type = new_resource_type(intern_atom("atomics"), intern_atom("array"));
  return type;
}

struct ArrayKind {
  bool is_signed, is_counter;
  unsigned lanes = 1;
};

Term new_array(Process& p, SWord size, ArrayKind kind) {
  AtomicArray wanted{};
  wanted.size = static_cast<Word>(size);
  wanted.lanes = static_cast<std::uint16_t>(kind.lanes);
  Resource* r = new_zeroed_resource(array_type(), wanted.bytes());
  if (!r) return raise_system_limit(p);
  auto* array = static_cast<AtomicArray*>(r->object());
  array->size = wanted.size;
  array->is_signed = kind.is_signed;
  array->is_counter = kind.is_counter;
  array->lanes = wanted.lanes;
  array->find_first();
  const Term ref = make_magic_ref(p.heap, *r);
  r->binary.release();  // the reference has its own
  return ref;
}

Term atomics_atom() {
  static const Term atom = intern_atom("atomics");
  return atom;
}
Term write_concurrency_atom() {
  static const Term atom = intern_atom("write_concurrency");
  return atom;
}

/// Outside of erts_internal counters are {Option, Reference}. Programs like cover, which embed them
/// in code, rely on that.
AtomicArray* find_array(Term ref, bool counter) {
  if (counter && ref.is_tuple() && ref.tuple_arity() == 2 &&
      (ref.element(0) == write_concurrency_atom() || ref.element(0) == atomics_atom()))
    ref = ref.element(1);
  auto* array = static_cast<AtomicArray*>(resource_object(ref, array_type()));
  return array && array->is_counter == counter ? array : nullptr;
}

/// Returns the cell named by (Ref, Index), and the array; nullptr for badarg.
std::atomic<Word>* find_cell(const Term* a, bool counter, AtomicArray** array) {
  *array = find_array(a[0], counter);
  SWord index;
  if (!*array || !small_in_range(a[1], 1, static_cast<SWord>((*array)->size), &index)) return nullptr;
  return (*array)->cells + (*array)->first + (index - 1);
}

bool read_value(const AtomicArray& array, Term t, Word* out) {
  std::int64_t s;
  std::uint64_t u;
  if (integer_to_int64(t, &s) && (array.is_signed || s >= 0)) *out = static_cast<Word>(s);
  else if (!array.is_signed && integer_to_uint64(t, &u)) *out = u;
  else return false;
  return true;
}
/// Increments wrap around, so any sign is allowed.
bool read_increment(Term t, Word* out) {
  std::int64_t s;
  std::uint64_t u;
  if (integer_to_int64(t, &s)) *out = static_cast<Word>(s);
  else if (integer_to_uint64(t, &u)) *out = u;
  else return false;
  return true;
}
Term value_term(Process& p, const AtomicArray& array, Word value) {
  return array.is_signed ? make_integer(p.heap, static_cast<std::int64_t>(value))
                         : make_unsigned(p.heap, value);
}

Term get_cell(Process& p, const Term* a, bool counter) {
  AtomicArray* array;
  std::atomic<Word>* cell = find_cell(a, counter, &array);
  if (!cell) return raise_badarg(p);
  Word sum = cell->load();
  for (unsigned lane = 1; lane < array->lanes; ++lane) sum += cell[lane * array->lane_cells()].load();
  return value_term(p, *array, sum);
}
Term put_cell(Process& p, const Term* a, bool counter) {
  AtomicArray* array;
  Word value;
  std::atomic<Word>* cell = find_cell(a, counter, &array);
  if (!cell || !read_value(*array, a[2], &value)) return raise_badarg(p);
  cell->store(value);
  for (unsigned lane = 1; lane < array->lanes; ++lane) cell[lane * array->lane_cells()].store(0);
  return atoms::ok;
}
/// sign: 1 or -1. The new value goes to *result when wanted.
Term add_cell(Process& p, const Term* a, bool counter, bool subtract, bool want_result) {
  AtomicArray* array;
  Word n;
  std::atomic<Word>* cell = find_cell(a, counter, &array);
  if (!cell || !read_increment(a[2], &n)) return raise_badarg(p);
  if (subtract) n = -n;
  const Word result = array->own_lane(*cell).fetch_add(n) + n;
  return want_result ? value_term(p, *array, result) : atoms::ok;
}

Term array_info(Process& p, Term ref, bool counter) {
  const AtomicArray* array = find_array(ref, counter);
  if (!array) return raise_badarg(p);
  static const Term least = intern_atom("min"), memory = atoms::memory, size = atoms::size;
  const Term bytes = Term::small(static_cast<SWord>(array->bytes())),
             count = Term::small(static_cast<SWord>(array->size));
  if (counter) {
    Term pairs[] = {size, count, memory, bytes};
    return map_from_pairs(p.heap, pairs, 2);
  }
  Term pairs[] = {
      size,       count,
      memory,     bytes,
      least,      array->is_signed ? make_integer(p.heap, INT64_MIN) : Term::small(0),
      atoms::max, array->is_signed ? make_integer(p.heap, INT64_MAX) : make_unsigned(p.heap, UINT64_MAX)};
  return map_from_pairs(p.heap, pairs, 4);
}

constexpr SWord kMaxCells = SWord{1} << 36;

bool is_positive(Term t) { return t.is_small() ? t.small_value() > 0 : t.is_boxed_sub(Term::Sub::kPosBig); }

/// Makes an array; the size must be positive.
Term new_array_of(Process& p, Term size, ArrayKind kind) {
  SWord n;
  return small_in_range(size, 1, kMaxCells, &n) ? new_array(p, n, kind) : raise_system_limit(p);
}

}  // namespace

Term new_array_cause(Process& p, unsigned, const Term* a) {
  return p.exception_value == atoms::badarg && is_positive(a[0]) ? atoms::badopt : kNonValue;
}

Term bif_atomics_new_2(Process& p, const Term* a) {
  static const Term signed_atom = intern_atom("signed");
  bool is_signed = true;
  if (!is_positive(a[0])) return raise_badarg(p);
  Term list = a[1];
  for (; list.is_list(); list = list.tail()) {
    const Term o = list.head();
    if (!o.is_tuple() || o.tuple_arity() != 2 || o.element(0) != signed_atom) return raise_badarg(p);
    if (o.element(1) != atoms::true_ && o.element(1) != atoms::false_) return raise_badarg(p);
    is_signed = o.element(1) == atoms::true_;
  }
  if (!list.is_nil()) return raise_badarg(p);
  return new_array_of(p, a[0], {is_signed, false});
}
/// (Size, Options as bits: 1 is signed).
Term bif_erts_internal_atomics_new_2(Process& p, const Term* a) {
  SWord options;
  if (!is_positive(a[0]) || !small_in_range(a[1], 0, Term::kSmallMax, &options)) return raise_badarg(p);
  return new_array_of(p, a[0], {(options & 1) != 0, false});
}
Term bif_atomics_get_2(Process& p, const Term* a) { return get_cell(p, a, false); }
Term bif_atomics_put_3(Process& p, const Term* a) { return put_cell(p, a, false); }
Term bif_atomics_add_3(Process& p, const Term* a) { return add_cell(p, a, false, false, false); }
Term bif_atomics_add_get_3(Process& p, const Term* a) { return add_cell(p, a, false, false, true); }
Term bif_atomics_sub_3(Process& p, const Term* a) { return add_cell(p, a, false, true, false); }
Term bif_atomics_sub_get_3(Process& p, const Term* a) { return add_cell(p, a, false, true, true); }
Term bif_atomics_exchange_3(Process& p, const Term* a) {
  AtomicArray* array;
  Word value;
  std::atomic<Word>* cell = find_cell(a, false, &array);
  if (!cell || !read_value(*array, a[2], &value)) return raise_badarg(p);
  return value_term(p, *array, cell->exchange(value));
}
Term bif_atomics_compare_exchange_4(Process& p, const Term* a) {
  AtomicArray* array;
  Word expected, wanted;
  std::atomic<Word>* cell = find_cell(a, false, &array);
  if (!cell || !read_value(*array, a[2], &expected) || !read_value(*array, a[3], &wanted))
    return raise_badarg(p);
  return cell->compare_exchange_strong(expected, wanted) ? atoms::ok : value_term(p, *array, expected);
}
Term bif_atomics_info_1(Process& p, const Term* a) { return array_info(p, a[0], false); }

Term bif_erts_internal_counters_new_1(Process& p, const Term* a) {
  return is_positive(a[0]) ? new_array_of(p, a[0], {true, true, scheduler_count() + 1}) : raise_badarg(p);
}
Term bif_counters_new_2(Process& p, const Term* a) {
  Term option = atomics_atom();
  if (a[1].is_list() && a[1].tail().is_nil()) option = a[1].head();
  else if (!a[1].is_nil()) return raise_badarg(p);
  const bool with_lanes = option == write_concurrency_atom();
  if (!is_positive(a[0]) || (!with_lanes && option != atomics_atom())) return raise_badarg(p);
  const Term array =
      with_lanes ? bif_erts_internal_counters_new_1(p, a) : new_array_of(p, a[0], {true, true});
  return array == kNonValue ? kNonValue : new_tuple(p.heap, option, array);
}
Term bif_counters_get_2(Process& p, const Term* a) { return get_cell(p, a, true); }
Term bif_counters_put_3(Process& p, const Term* a) { return put_cell(p, a, true); }
Term bif_counters_add_3(Process& p, const Term* a) { return add_cell(p, a, true, false, false); }
Term bif_counters_sub_3(Process& p, const Term* a) { return add_cell(p, a, true, true, false); }
Term bif_counters_info_1(Process& p, const Term* a) { return array_info(p, a[0], true); }

}  // namespace vmrun
