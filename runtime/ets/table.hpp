#pragma once

#include <memory>

#include "runtime/ets/table_lock.hpp"
#include "vm/base/flat_table.hpp"
#include "vm/process/process_state.hpp"
#include "vm/process/reference.hpp"

/// Tables: identity, owner, rights, and the registry that finds them by identifier or name. A Table
/// structure is never freed: the slot of a deleted one is used again with another identity, so that
/// looking a table up takes no lock but its own. Everything is guarded by `lock`. An exit hook
/// deletes or passes on what a dying process owns.
namespace vmrun::ets {

enum class Protection : std::uint8_t { kPublic, kProtected, kPrivate };

struct Table {
  mutable TableLock lock;
  bool alive = false;
  std::uint32_t slot = 0;
  RefKey key;  // of the identifier
  Term name;   // atom
  bool named = false;
  Term owner;  // local pid
  Protection protection = Protection::kProtected;
  std::unique_ptr<Store> store;
  std::atomic<Word> keypos{0};  // the store's, for who does not hold the lock
  Term heir = atoms::none;      // local pid or none
  OwnObject heir_data;          // {Data}
  bool read_concurrency = false, decentralized_counters = false, compressed = false;
  Term write_concurrency = atoms::false_;  // true, false or auto
  Word told_locks = 0;                     // {debug_hash_fixed_number_of_locks, N}: nothing but told again
  FlatTable<Term, Word> fixers;            // pid: how many times
  Word fixed_at = 0;                       // monotonic time in nanoseconds

  bool can_read(Term pid) const { return protection != Protection::kPrivate || owner == pid; }
  bool can_write(Term pid) const { return protection == Protection::kPublic || owner == pid; }
  void release_heir() {
    heir_data.reset();
    heir = atoms::none;
  }
  Word memory_words() const {
    return store->memory_words() + lock.stripe_words() + sizeof(Table) / sizeof(Word);
  }
  /// Whether its creator says that many use it at the same time. Of bags nobody profits.
  bool wants_stripes(Kind kind) const {
    return kind == Kind::kSet && (read_concurrency || write_concurrency != atoms::false_);
  }
};

/// The identifier as a term in the caller's heap: the name of a named table, else a reference.
Term table_id(Heap& heap, const Table& t);
Term table_ref(Heap& heap, const Table& t);

/// A new table, not locked, that nobody else can find yet but through the caller's term. nullptr:
/// no slot left. *name_taken: nothing was made because a named table has that name.
Table* create_table(std::unique_ptr<Table> properties, bool* name_taken);

/// The key position of the table with this identifier, without its lock: it may have gone
/// meanwhile, and another one with its name have come. False: there is none.
[[nodiscard]] bool look_at_keypos(Term id, Word* keypos);

enum class Access { kNone, kRead, kWrite, kOwner };

/// A table found by its term and locked; empty if there is none or `p` has no right to use it so.
class Locked {
 public:
  Locked(Term pid, Term id, Access access, bool exclusive);
  Locked(Process& p, Term id, Access access)
      : Locked(p.id, id, access, access == Access::kWrite || access == Access::kOwner) {}
  /// For find, insert, replace and erase of objects with this key alone: where the table has
  /// stripes, no more of it is locked. Of what belongs to the whole, only properties may be read.
  Locked(Process& p, Term id, Access access, Term key);
  /// The same for keys with such a hash.
  Locked(Process& p, Term id, Access access, std::uint64_t hash);
  ~Locked();
  Locked(const Locked&) = delete;
  explicit operator bool() const { return table_ != nullptr; }
  Table* operator->() const { return table_; }
  Table& operator*() const { return *table_; }
  Store& store() const { return *table_->store; }

 private:
  void lock_stripe();
  void check(Term pid, Term id, Access access);
  void unlock();

  Table* table_ = nullptr;
  bool exclusive_, by_stripe_ = false;
  std::uint64_t hash_ = 0;
};

/// Takes a table, locked exclusively, out of the registry. Returns its store, to be destroyed after
/// unlocking.
[[nodiscard]] std::unique_ptr<Store> remove_table(Table& t);
/// What is left of a table that a process has removed: it takes that back to free it, or leaves it
/// behind when it ends.
void leave_for(Term pid, std::unique_ptr<Store> store);
std::unique_ptr<Store> take_left(Term pid);
/// Locked exclusively; the new name is an atom. False: taken.
[[nodiscard]] bool rename_table(Table& t, Term name);
/// Locked exclusively. The new owner is told {'ETS-TRANSFER', Table, From, Data}. False: it is no
/// live process.
[[nodiscard]] bool give_table(Table& t, Term to, Term from, Term data);
void fix_table(Table& t, Term pid);
void unfix_table(Table& t, Term pid, Released& released);

/// How many there are or have been at a time.
Word most_tables();
/// Visits all tables, each locked for reading.
void for_each_table(const std::function<void(const Table&)>& visit);
/// The named table with this name, or kNonValue: its reference.
Term whereis_table(Heap& heap, Term name);

}  // namespace vmrun::ets
