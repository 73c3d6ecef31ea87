// SPDX-License-Identifier: Apache-2.0
#include "runtime/ets/table.hpp"

#include <sys/mman.h>

#include <atomic>
#include <mutex>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "vm/base/allocate.hpp"
#include "vm/base/clock.hpp"
#include "vm/base/small_limits.hpp"
#include "vm/lifecycle/exit.hpp"
#include "vm/message/send.hpp"
#include "vm/process/process_table.hpp"
#include "vm/term/hash.hpp"

// Lock order: a table's lock, then `registry_mutex`. Exit hooks start from the registry, so they
// copy what they need and release it before they lock a table.

namespace vmrun::ets {
namespace {

constexpr std::uint32_t kMaxTables = 1u << 20;
constexpr int kSlotBits = 20;

// Written once per slot, before an identifier with it exists.
std::atomic<Table*> slots[kMaxTables];

/// Maps an array of zeros. Pages that are never touched take no memory, and no swap is reserved for
/// them.
std::atomic<std::uint32_t>* map_names() {
  constexpr std::size_t kBytes = kAtomCapacity * sizeof(std::atomic<std::uint32_t>);
  void* const area =
      mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (area == MAP_FAILED) out_of_memory("names of tables", kBytes);
  return static_cast<std::atomic<std::uint32_t>*>(area);
}
// Indexed by atom: slot + 1 of the table with that name, or 0.
std::atomic<std::uint32_t>* const names = map_names();

std::mutex registry_mutex;  // guards what follows, and changes of the arrays above
std::uint32_t slot_count = 0;
std::vector<std::uint32_t> free_slots;
Word generation = 0;
/// The tables that a process owns or fixes.
struct Use {
  std::unordered_set<std::uint32_t> slots;  // may contain tables of others by now
  std::unique_ptr<Store> left;              // of a removed table, still to be freed
};
std::unordered_map<Word, Use> used_by;  // key: pid
std::atomic<Word> user_count{0};        // size of used_by
std::unordered_set<Word> super_users;   // pids
std::atomic<Word> super_user_count{0};  // size of super_users

/// A process asks this of itself, so relaxed order shows what it has changed.
bool is_super_user(Term pid) {
  if (super_user_count.load(std::memory_order_relaxed) == 0) return false;
  std::lock_guard lock(registry_mutex);
  return super_users.contains(pid.raw());
}

void note_user(Term pid, std::uint32_t slot) {
  std::lock_guard lock(registry_mutex);
  used_by[pid.raw()].slots.insert(slot);
  user_count.store(used_by.size(), std::memory_order_release);
}

/// Locks a table during its lifetime.
class WholeTable {
 public:
  WholeTable(const Table& t, bool exclusive) : lock_(t.lock), exclusive_(exclusive) {
    lock_.lock(exclusive_);
  }
  ~WholeTable() { lock_.unlock(exclusive_); }
  WholeTable(const WholeTable&) = delete;

 private:
  TableLock& lock_;
  const bool exclusive_;
};

/// The slot is in the second number, with 12 bits of the generation; the first number has 18 bits
/// of the generation, the third the rest. A generation repeats after 2^58 tables.
RefKey table_key(Word generation, std::uint32_t slot) {
  constexpr auto kFirst = static_cast<std::uint32_t>(RefSpace::kTables),
                 kMost = static_cast<std::uint32_t>(RefSpace::kLastTable) - kFirst;
  const auto second = static_cast<std::uint32_t>(generation >> kFirstNumberBits << kSlotBits) | slot;
  const auto rest = static_cast<std::uint32_t>(generation >> (kFirstNumberBits + 32 - kSlotBits)) & kMost;
  return {Word{second} << 32 | (generation & kFirstNumberMask), kFirst | rest};
}
std::uint32_t slot_in(RefKey key) { return static_cast<std::uint32_t>(key.low >> 32) & (kMaxTables - 1); }

Table* table_in(std::uint32_t slot) {
  return slot < kMaxTables ? slots[slot].load(std::memory_order_acquire) : nullptr;
}

bool has_identity(const Table& t, Term id) {
  if (!t.alive) return false;
  return id.is_atom() ? t.named && t.name == id : t.key == ref_key(id);
}

Table* find(Term id) {
  if (id.is_atom()) {
    const std::uint32_t slot = names[id.atom_index()].load(std::memory_order_acquire);
    return slot ? table_in(slot - 1) : nullptr;
  }
  if (!id.is_local_ref()) return nullptr;
  const RefKey key = ref_key(id);
  return is_table_key(key) ? table_in(slot_in(key)) : nullptr;
}

/// Returns the store of a table that is deleted with the process.
std::unique_ptr<Store> leave_behind(Process& p, Table& t) {
  Released released;
  const WholeTable whole(t, true);
  if (!t.alive) return {};
  if (const Word* fixed = t.fixers.find(p.id))
    for (Word times = *fixed; times; --times) unfix_table(t, p.id, released);
  if (t.owner != p.id) return {};
  if (t.heir != atoms::none && t.heir != p.id) {
    if (give_table(t, t.heir, p.id, t.heir_data->tuple.element(0))) return {};  // and remains its own heir
  }
  return remove_table(t);
}

/// Takes the next slot that the ending process uses, or the rest of a removed table. Returns false
/// when there is neither.
bool take_use(Term pid, std::uint32_t* slot, std::unique_ptr<Store>* store) {
  std::lock_guard lock(registry_mutex);
  const auto it = used_by.find(pid.raw());
  if (it == used_by.end()) return false;
  Use& use = it->second;
  if (use.left) {
    *store = std::move(use.left);
    return true;
  }
  if (!use.slots.empty()) {
    *slot = *use.slots.begin();
    use.slots.erase(use.slots.begin());
    return true;
  }
  used_by.erase(it);
  user_count.store(used_by.size(), std::memory_order_release);
  return false;
}

}  // namespace

bool give_up_tables(Process& p) {
  make_super_user(p.id, false);
  if (user_count.load(std::memory_order_acquire) == 0) return true;
  constexpr SWord kObjectsForTable = 16;  // deleting a table costs as much as these
  SWord left = usual_or_small<SWord>(1000, 2);
  while (left > 0) {
    std::uint32_t slot;
    std::unique_ptr<Store> store;
    if (!take_use(p.id, &slot, &store)) return true;
    if (!store) store = leave_behind(p, *table_in(slot));
    if (store && !store->free_some(left)) {
      std::lock_guard lock(registry_mutex);
      used_by[p.id.raw()].left = std::move(store);
      return false;
    }
    left -= kObjectsForTable;
  }
  return false;
}

Term table_ref(Heap& heap, const Table& t) {
  Term* hp = heap.alloc(kRefWords);
  return make_ref(hp, t.key);
}

Term table_id(Heap& heap, const Table& t) { return t.named ? t.name : table_ref(heap, t); }

namespace {

/// Returns an unused slot, or nullptr when there are too many tables.
Table* take_slot() {
  std::lock_guard lock(registry_mutex);
  if (!free_slots.empty()) {
    Table* t = slots[free_slots.back()].load(std::memory_order_relaxed);
    free_slots.pop_back();
    return t;
  }
  if (slot_count == kMaxTables) return nullptr;
  auto* t = new Table;
  t->slot = slot_count++;
  slots[t->slot].store(t, std::memory_order_release);
  return t;
}

}  // namespace

Table* create_table(std::unique_ptr<Table> properties, bool* name_taken) {
  *name_taken = false;
  Table* t = take_slot();
  if (!t) return nullptr;
  {
    // The table's lock comes before the registry's, as everywhere. It is free or soon will be: a
    // process that arrives with the slot's former identifier finds a dead table.
    const WholeTable whole(*t, true);
    std::lock_guard lock(registry_mutex);
    auto* named = properties->named ? &names[properties->name.atom_index()] : nullptr;
    if (named && named->load(std::memory_order_relaxed) != 0) {
      *name_taken = true;
      free_slots.push_back(t->slot);
      return nullptr;
    }
    t->key = table_key(++generation, t->slot);
    t->name = properties->name;
    t->named = properties->named;
    t->owner = properties->owner;
    t->protection = properties->protection;
    t->store = std::move(properties->store);
    t->keypos.store(t->store->keypos(), std::memory_order_relaxed);
    t->heir = properties->heir;
    t->heir_data = std::move(properties->heir_data);
    t->read_concurrency = properties->read_concurrency;
    t->decentralized_counters = properties->decentralized_counters;
    t->compressed = properties->compressed;
    t->write_concurrency = properties->write_concurrency;
    t->reported_locks = properties->reported_locks;
    t->lock.use_stripes(t->store->striped());
    t->alive = true;
    if (named) named->store(t->slot + 1, std::memory_order_release);
  }
  note_user(t->owner, t->slot);
  return t;
}

bool look_at_keypos(Term id, Word* keypos) {
  const Table* t = find(id);
  *keypos = t ? t->keypos.load(std::memory_order_relaxed) : 0;
  return *keypos != 0;  // a slot that has never been used has 0
}

void make_super_user(Term pid, bool wanted) {
  if (!wanted && super_user_count.load(std::memory_order_relaxed) == 0) return;
  std::lock_guard lock(registry_mutex);
  if (wanted) super_users.insert(pid.raw());
  else super_users.erase(pid.raw());
  super_user_count.store(super_users.size(), std::memory_order_relaxed);
}

Locked::Locked(Term pid, Term id, Access access, bool exclusive) : exclusive_(exclusive) {
  table_ = find(id);
  if (!table_) return;
  table_->lock.lock(exclusive_);
  check(pid, id, access);
}

Locked::Locked(Process& p, Term id, Access access, Term key) : exclusive_(access == Access::kWrite) {
  table_ = find(id);
  if (!table_) return;
  if (table_->lock.has_stripes()) {
    hash_ = hash_term(key);
    lock_stripe();
  } else {
    table_->lock.lock(exclusive_);
  }
  check(p.id, id, access);
}

Locked::Locked(Process& p, Term id, Access access, std::uint64_t hash)
    : exclusive_(access == Access::kWrite), hash_(hash) {
  table_ = find(id);
  if (!table_) return;
  lock_stripe();
  check(p.id, id, access);
}

void Locked::lock_stripe() {
  by_stripe_ = table_->lock.lock_stripe(hash_, exclusive_);
  if (by_stripe_ && exclusive_ && table_->alive && table_->store->is_fixed()) {
    table_->lock.unlock_stripe(hash_, exclusive_);
    by_stripe_ = false;
  }
  if (!by_stripe_) table_->lock.lock(exclusive_);
}

void Locked::check(Term pid, Term id, Access access) {
  bool allowed = has_identity(*table_, id);
  if (access == Access::kRead) allowed = allowed && table_->can_read(pid);
  if (access == Access::kWrite) allowed = allowed && table_->can_write(pid);
  if (access == Access::kOwner) allowed = allowed && table_->owner == pid;
  if (allowed || (access == Access::kRead && is_super_user(pid) && has_identity(*table_, id))) return;
  unlock();
  table_ = nullptr;
}

void Locked::unlock() {
  by_stripe_ ? table_->lock.unlock_stripe(hash_, exclusive_) : table_->lock.unlock(exclusive_);
}

Locked::~Locked() {
  if (!table_) return;
  bool unbalanced = false;
  if (exclusive_ && table_->lock.has_stripes() && table_->alive) {
    if (by_stripe_) unbalanced = table_->store->is_unbalanced(hash_);
    else table_->store->balance(Store::kStepsAtATime);
  }
  unlock();
  if (!unbalanced) return;
  table_->lock.lock(true);
  if (table_->alive) table_->store->balance(Store::kStepsAtATime);
  table_->lock.unlock(true);
}

std::unique_ptr<Store> remove_table(Table& t) {
  std::lock_guard lock(registry_mutex);
  if (t.named) names[t.name.atom_index()].store(0, std::memory_order_release);
  t.alive = false;
  t.fixers.clear();
  t.release_heir();
  free_slots.push_back(t.slot);
  return std::move(t.store);
}

void leave_for(Term pid, std::unique_ptr<Store> store) {
  std::lock_guard lock(registry_mutex);
  used_by[pid.raw()].left = std::move(store);
  user_count.store(used_by.size(), std::memory_order_release);
}
std::unique_ptr<Store> take_left(Term pid) {
  std::lock_guard lock(registry_mutex);
  const auto use = used_by.find(pid.raw());
  return use == used_by.end() ? nullptr : std::move(use->second.left);
}

bool rename_table(Table& t, Term name) {
  std::lock_guard lock(registry_mutex);
  if (t.named) {
    if (names[name.atom_index()].load(std::memory_order_relaxed)) return false;
    names[t.name.atom_index()].store(0, std::memory_order_release);
    names[name.atom_index()].store(t.slot + 1, std::memory_order_release);
  }
  t.name = name;
  return true;
}

bool give_table(Table& t, Term to, Term from, Term data) {
  if (!process_table.find(to)) return false;
  t.owner = to;
  note_user(to, t.slot);
  Fragment* f = new_fragment(5 + kRefWords + copy_size_words(data));
  Term* hp = fragment_alloc(*f, 5 + kRefWords);
  Term* ref = hp + 5;
  const Term id = t.named ? t.name : make_ref(ref, t.key);
  f->message = make_tuple(hp, atoms::ets_transfer, id, from, copy_into(*f, data));
  // If the new owner is dying at this moment, its exit hook either finds the note above, or has
  // already run; then the table must be deleted.
  return send_from_vm(to, f);
}

void fix_table(Table& t, Term pid) {
  t.store->fix();
  if (t.fixers.empty()) t.fixed_at = static_cast<Word>(monotonic_ns());
  if (t.fixers.insert(pid, 1)) note_user(pid, t.slot);
  else ++*t.fixers.find(pid);
}

void unfix_table(Table& t, Term pid, Released& released) {
  Word* times = t.fixers.find(pid);
  if (!times) return;
  if (--*times == 0) t.fixers.erase(pid);
  t.store->unfix(released);
}

Word most_tables() {
  std::lock_guard lock(registry_mutex);
  return slot_count;
}

void for_each_table(const std::function<void(const Table&)>& visit) {
  std::uint32_t count;
  {
    std::lock_guard lock(registry_mutex);
    count = slot_count;
  }
  for (std::uint32_t i = 0; i < count; ++i) {
    const Table* t = table_in(i);
    const WholeTable whole(*t, false);
    if (t->alive) visit(*t);
  }
}

Term whereis_table(Heap& heap, Term name) {
  if (Locked t(Term::nil(), name, Access::kNone, false); t) return table_ref(heap, *t);
  return kNonValue;
}

}  // namespace vmrun::ets
