// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "runtime/ets/table_lock.hpp"
#include "vm/base/flat_table.hpp"
#include "vm/process/process_state.hpp"
#include "vm/process/reference.hpp"

/// Tables: identity, owner, rights, and the registry that finds them by identifier or name. A Table
/// structure is never freed: the slot of a deleted table is used again with another identity, so
/// that finding a table takes no lock but its own. Everything is guarded by `lock`. When a process
/// ends, an exit hook deletes its tables or gives them to their heirs.
namespace vmrun::ets {

enum class Protection : std::uint8_t { kPublic, kProtected, kPrivate };

struct Table {
  mutable TableLock lock;
  bool alive = false;
  std::uint32_t slot = 0;
  RefKey key;  // of its reference
  Term name;   // atom
  bool named = false;
  Term owner;  // local pid
  Protection protection = Protection::kProtected;
  std::unique_ptr<Store> store;
  std::atomic<Word> keypos{0};  // the store's, for readers without the lock
  Term heir = atoms::none;      // local pid or none
  OwnObject heir_data;          // {Data}
  bool read_concurrency = false, decentralized_counters = false, compressed = false;
  Term write_concurrency = atoms::false_;  // true, false or auto
  Word reported_locks = 0;                 // {debug_hash_fixed_number_of_locks, N}: only reported by info
  FlatTable<Term, Word> fixers;            // by pid: how many times it fixes the table
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
  /// Whether the options say that many processes use the table at the same time. Bags would not
  /// profit from stripes.
  bool wants_stripes(Kind kind) const {
    return kind == Kind::kSet && (read_concurrency || write_concurrency != atoms::false_);
  }
};

/// table_id: the identifier as a term in the caller's heap, which is the name of a named table,
/// else a reference. table_ref: always the reference.
Term table_id(Heap& heap, const Table& t);
Term table_ref(Heap& heap, const Table& t);

/// Makes a new table. It is not locked, and only the caller's term leads to it. Returns nullptr
/// when no slot is left, or when a named table has its name already (*name_taken).
Table* create_table(std::unique_ptr<Table> properties, bool* name_taken);

/// Reads the key position of the table with this identifier without its lock. Meanwhile the table
/// may be deleted, and another one may take its name. Returns false when there is no such table.
[[nodiscard]] bool look_at_keypos(Term id, Word* keypos);

/// A process with the right of a super user reads and fixes every table, whatever its protection.
/// It has that right until it gives it back or ends.
void make_super_user(Term pid, bool wanted);

enum class Access { kNone, kRead, kWrite, kOwner };

/// A table found by its term and locked. Empty if there is no such table or `p` has no right to use
/// it that way.
class Locked {
 public:
  Locked(Term pid, Term id, Access access, bool exclusive);
  Locked(Process& p, Term id, Access access)
      : Locked(p.id, id, access, access == Access::kWrite || access == Access::kOwner) {}
  /// For find, insert, replace and erase of objects with this key alone. If the table has stripes,
  /// only the key's stripe is locked; then only the table's properties may be read besides.
  Locked(Process& p, Term id, Access access, Term key);
  /// Like the one above, for keys with this hash.
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

/// Takes a table, locked exclusively, out of the registry. Returns its store, which the caller
/// destroys after unlocking.
[[nodiscard]] std::unique_ptr<Store> remove_table(Table& t);
/// The rest of a store whose table the process has removed. The process takes it back with
/// take_left to free more of it; if it ends first, its exit frees the rest.
void leave_for(Term pid, std::unique_ptr<Store> store);
std::unique_ptr<Store> take_left(Term pid);
/// Requires the exclusive lock; the new name is an atom. Returns false when the name is taken.
[[nodiscard]] bool rename_table(Table& t, Term name);
/// give_table requires the exclusive lock and sends {'ETS-TRANSFER', Table, From, Data} to the new
/// owner. It returns false when `to` is not a live process.
[[nodiscard]] bool give_table(Table& t, Term to, Term from, Term data);
void fix_table(Table& t, Term pid);
/// A process ends: its tables go, or to their heirs, and what it has fixed is released. True: it is
/// done.
bool give_up_tables(Process& p);
void unfix_table(Table& t, Term pid, Released& released);

/// The largest number of tables that have existed at a time.
Word most_tables();
/// Visits all tables, each locked for reading.
void for_each_table(const std::function<void(const Table&)>& visit);
/// Returns the reference of the table with this name, or kNonValue.
Term whereis_table(Heap& heap, Term name);

}  // namespace vmrun::ets
