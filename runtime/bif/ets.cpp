// SPDX-License-Identifier: Apache-2.0
#include <bit>
#include <optional>
#include <utility>

#include "runtime/bif/ets_support.hpp"
#include "runtime/bif/reduction_budget.hpp"
#include "runtime/bif/support.hpp"
#include "runtime/ets/table.hpp"
#include "vm/base/clock.hpp"
#include "vm/code/module.hpp"
#include "vm/lifecycle/info.hpp"
#include "vm/message/send.hpp"
#include "vm/process/process_table.hpp"
#include "vm/sched/scheduler.hpp"
#include "vm/term/node.hpp"

/// Module ets: functions of whole tables. Objects are in ets_objects.cpp, matching in
/// ets_match.cpp, and the functions that are written in Erlang in runtime/lib/ets.erl. Every
/// failure is badarg, as documented for the module.
namespace vmrun {

using namespace ets;

namespace {

Term kind_term(Kind k) {
  constexpr Term kTerms[] = {atoms::set, atoms::ordered_set, atoms::bag, atoms::duplicate_bag};
  return kTerms[static_cast<int>(k)];
}
Term protection_term(Protection p) {
  constexpr Term kTerms[] = {atoms::public_, atoms::protected_, atoms::private_};
  return kTerms[static_cast<int>(p)];
}

bool is_table_id(Term t) { return t.is_atom() || (t.is_local_ref() && is_table_key(ref_key(t))); }

Term cause(Process& p, Term table, bool (Table::*may)(Term pid) const) {
  static const Term id = intern_atom("id"), access = intern_atom("access"), type = intern_atom("type");
  if (!is_table_id(table)) return type;
  const Locked t(p, table, Access::kNone, std::uint64_t{0});  // any stripe: failing is common
  if (!t) return id;
  return ((*t).*may)(p.id) ? kNonValue : access;
}

}  // namespace

/// Returns why a call failed, if the reason is the table. This is determined at once, because the
/// table may be gone when the reason is asked for.
Term table_cause(Process& p, unsigned, const Term* a) { return cause(p, a[0], &Table::can_read); }
/// Like table_cause, for a call that changes the table.
Term written_table_cause(Process& p, unsigned, const Term* a) { return cause(p, a[0], &Table::can_write); }

namespace {

bool bool_option(Term value, bool* out) {
  *out = value == atoms::true_;
  return value == atoms::true_ || value == atoms::false_;
}

std::optional<Protection> protection_of(Term value) {
  for (const Protection p : {Protection::kPublic, Protection::kProtected, Protection::kPrivate})
    if (protection_term(p) == value) return p;
  return std::nullopt;
}

/// Whether the option is {heir, none} or {heir, Pid, Data}.
bool names_heir(Term option) {
  if (!option.is_tuple() || option.tuple_arity() < 2 || option.element(0) != atoms::heir) return false;
  const Term heir = option.element(1);
  return option.tuple_arity() == 2 ? heir == atoms::none : option.tuple_arity() == 3 && heir.is_local_pid();
}

/// Sets the heir of such an option. A process that is not alive is not made heir.
void set_heir(Process& p, Term option, Table& t) {
  t.release_heir();
  const Term pid = option.element(1);
  if (pid == atoms::none || (pid != p.id && !process_table.find(pid))) return;
  t.heir = pid;
  t.heir_data.reset(make_object(new_tuple(p.heap, option.element(2))));
}

struct Properties {
  Kind kind = Kind::kSet;
  SWord keypos = 1;
  std::optional<bool> decentralized_counters;
  Term heir;  // the option that names one, or no value
};

Term fixed_locks_atom() {
  static const Term atom = intern_atom("debug_hash_fixed_number_of_locks");
  return atom;
}

/// A hash table for which a number of locks is given gets stripes.
bool set_write_concurrency(Term value, Table& t) {
  SWord locks = 0;
  const bool fixed = value.is_tuple() && value.tuple_arity() == 2 && value.element(0) == fixed_locks_atom();
  if (fixed && !small_in_range(value.element(1), 1, Term::kSmallMax, &locks)) return false;
  t.reported_locks = std::bit_floor(static_cast<Word>(locks));
  t.write_concurrency = fixed ? atoms::true_ : value;
  return fixed || value == atoms::true_ || value == atoms::false_ || value == atoms::auto_;
}

/// Resolves the options against each other.
bool settle(Table& t, const Properties& properties) {
  const bool is_ordered = properties.kind == Kind::kOrderedSet;
  if (t.reported_locks && is_ordered) return false;
  if (t.protection == Protection::kPrivate) {
    t.reported_locks = 0;
    t.write_concurrency = atoms::false_;
  }
  const bool usually = is_ordered || t.reported_locks || t.write_concurrency == atoms::auto_;
  t.decentralized_counters =
      t.write_concurrency != atoms::false_ && properties.decentralized_counters.value_or(usually);
  return true;
}

bool read_option(Term option, Table& t, Properties& properties) {
  if (option.is_atom()) {
    if (option == atoms::named_table) return t.named = true;
    if (option == atoms::compressed) return t.compressed = true;
    for (const Kind k : {Kind::kSet, Kind::kOrderedSet, Kind::kBag, Kind::kDuplicateBag}) {
      if (kind_term(k) != option) continue;
      properties.kind = k;
      return true;
    }
    const std::optional<Protection> protection = protection_of(option);
    t.protection = protection.value_or(t.protection);
    return protection.has_value();
  }
  if (names_heir(option)) return properties.heir = option, true;
  if (!option.is_tuple() || option.tuple_arity() != 2) return false;
  const Term name = option.element(0), value = option.element(1);
  if (name == atoms::keypos)
    return small_in_range(value, 1, static_cast<SWord>(kMaxTupleElements), &properties.keypos);
  if (name == atoms::read_concurrency) return bool_option(value, &t.read_concurrency);
  if (name == atoms::decentralized_counters)
    return bool_option(value, &properties.decentralized_counters.emplace());
  if (name == atoms::write_concurrency) return set_write_concurrency(value, t);
  return false;
}

/// Reads the options of new/2 into a table that has no name, heir or store yet.
bool read_options(Term options, Table& t, Properties& properties) {
  if (list_length(options) < 0) return false;
  for (; options.is_list(); options = options.tail())
    if (!read_option(options.head(), t, properties)) return false;
  return settle(t, properties);
}

struct TableItem {
  Term name;
  Term (*value)(Process& p, const Table& t);
};

Term local_node(Process&, const Table&) { return local_node_name(); }

Term write_concurrency(Process& p, const Table& t) {
  if (!t.reported_locks) return t.write_concurrency;
  return new_tuple(p.heap, fixed_locks_atom(), Term::small(static_cast<SWord>(t.reported_locks)));
}

/// In the order of ets:info/1.
constexpr TableItem kInfoItems[] = {
    {atoms::id, [](Process& p, const Table& t) { return table_ref(p.heap, t); }},
    {atoms::decentralized_counters,
     [](Process&, const Table& t) { return bool_term(t.decentralized_counters); }},
    {atoms::read_concurrency, [](Process&, const Table& t) { return bool_term(t.read_concurrency); }},
    {atoms::write_concurrency, write_concurrency},
    {atoms::compressed, [](Process&, const Table& t) { return bool_term(t.compressed); }},
    {atoms::memory,
     [](Process&, const Table& t) { return Term::small(static_cast<SWord>(t.memory_words())); }},
    {atoms::owner, [](Process&, const Table& t) { return t.owner; }},
    {atoms::heir, [](Process&, const Table& t) { return t.heir; }},
    {atoms::name, [](Process&, const Table& t) { return t.name; }},
    {atoms::size, [](Process&, const Table& t) { return Term::small(static_cast<SWord>(t.store->count())); }},
    {atoms::node, local_node},
    {atoms::named_table, [](Process&, const Table& t) { return bool_term(t.named); }},
    {atoms::type, [](Process&, const Table& t) { return kind_term(t.store->kind()); }},
    {atoms::keypos,
     [](Process&, const Table& t) { return Term::small(static_cast<SWord>(t.store->keypos())); }},
    {atoms::protection, [](Process&, const Table& t) { return protection_term(t.protection); }},
};

/// {Time, [{Pid, Count}]} or false.
Term fixations(Process& p, const Table& t, bool monotonic) {
  if (t.fixers.empty()) return atoms::false_;
  ListBuilder list(p.heap);
  t.fixers.for_each([&](Term pid, Word times) {
    list.add(new_tuple(p.heap, pid, Term::small(static_cast<SWord>(times))));
  });
  const auto now = static_cast<SWord>(t.fixed_at);
  if (monotonic) return new_tuple(p.heap, Term::small(now), list.finish());
  const SWord micro = (now + time_offset_ns()) / 1000;
  const Term time = new_tuple(p.heap, Term::small(micro / 1'000'000'000'000),
                              Term::small(micro / 1'000'000 % 1'000'000), Term::small(micro % 1'000'000));
  return new_tuple(p.heap, time, list.finish());
}

/// For a hash table returns {Buckets, mean length of their chains, its deviation, the expected
/// deviation, least, most, number of deleted objects that stay, Locks}, else false.
Term statistics(Process& p, const Table& t) {
  const std::optional<ChainStatistics> s = t.store->chains();
  if (!s) return atoms::false_;
  const auto number = [](Word n) { return Term::small(static_cast<SWord>(n)); };
  const auto real = [&](double d) {
    Term* hp = p.heap.alloc(2);
    return make_float(hp, d);
  };
  const Word locks = t.reported_locks ? t.reported_locks : t.store->striped() ? kStripes : 0;
  const Term mean = real(s->mean), deviation = real(s->deviation), expected = real(s->expected_deviation());
  return new_tuple(p.heap, number(s->buckets), mean, deviation, expected, number(s->least), number(s->most),
                   number(s->kept), number(locks));
}

/// Adds {Address, Bytes, References} of each binary that the object refers to.
void add_binaries(ListBuilder& list, Process& p, const Object* o) {
  for (const OffHeapObject* outside = o->off_heap; outside; outside = outside->next)
    if (outside->header.header_sub() == Term::Sub::kRefcBinary)
      list.add(binary_info(p.heap, *reinterpret_cast<const RefcBinary*>(outside)->binary));
}

Term binaries(Process& p, const Table& t) {
  ListBuilder list(p.heap);
  t.store->for_each_kept([&](const Object* o) { add_binaries(list, p, o); });
  return list.finish();
}

}  // namespace

Term bif_ets_new_2(Process& p, const Term* a) {
  auto t = std::make_unique<Table>();
  Properties properties;
  if (!a[0].is_atom() || !read_options(a[1], *t, properties)) return raise_badarg(p);
  if (properties.heir) set_heir(p, properties.heir, *t);
  t->name = a[0];
  t->owner = p.id;
  const auto keypos = static_cast<Word>(properties.keypos);
  t->store = properties.kind == Kind::kOrderedSet
                 ? make_tree_store(keypos)
                 : make_hash_store(properties.kind, keypos, t->wants_stripes(properties.kind));
  bool taken;
  if (const Table* made = create_table(std::move(t), &taken)) return table_id(p.heap, *made);
  return taken ? raise_badarg(p) : raise_system_limit(p);
}

Term new_cause(Process&, unsigned, const Term* a) {
  Table t;
  Properties properties;
  static const Term already_exists = intern_atom("already_exists");
  return a[0].is_atom() && read_options(a[1], t, properties) ? already_exists : kNonValue;
}

/// The table is gone at once. Many objects are freed on a dirty scheduler, or by the exit of the
/// process if it ends before that.
Term bif_ets_delete_1(Process& p, const Term* a) {
  const auto free_objects = [](Process& q, const Term*) { return take_left(q.id), atoms::true_; };
  if (came_back(p)) return run_on_dirty(p, free_objects, a, 1);
  std::unique_ptr<Store> dropped;
  if (Locked t(p, a[0], Access::kWrite); t) dropped = remove_table(*t);
  if (!dropped) return raise_badarg(p);
  charge(p, static_cast<SWord>(dropped->count()));
  if (!too_long(dropped->count())) return atoms::true_;
  leave_for(p.id, std::move(dropped));
  return run_on_dirty(p, free_objects, a, 1);
}

Term bif_ets_rename_2(Process& p, const Term* a) {
  if (!a[1].is_atom()) return raise_badarg(p);
  Locked t(p, a[0], Access::kWrite);
  return t && rename_table(*t, a[1]) ? table_id(p.heap, *t) : raise_badarg(p);
}

Term bif_ets_give_away_3(Process& p, const Term* a) {
  if (!a[1].is_local_pid() || a[1] == p.id) return raise_badarg(p);
  Locked t(p, a[0], Access::kOwner);
  if (t && give_table(*t, a[1], p.id, a[2])) return atoms::true_;
  if (t) t->owner = p.id;
  return raise_badarg(p);
}

Term give_away_cause(Process& p, unsigned arity, const Term* a) {
  static const Term owner = intern_atom("owner"), not_owner = intern_atom("not_owner");
  const Locked t(p, a[0], Access::kWrite, std::uint64_t{0});
  if (!t) return written_table_cause(p, arity, a);
  const bool to_somebody = a[1].is_local_pid() && (a[1] == p.id || process_table.find(a[1]));
  if (!to_somebody) return kNonValue;
  return t->owner == p.id ? owner : not_owner;
}

/// Takes one option or a list of options with different names. All must be valid, or nothing is
/// changed.
Term bif_ets_setopts_2(Process& p, const Term* a) {
  Term heir;
  std::optional<Protection> protection;
  const auto read = [&](Term option) {
    if (names_heir(option)) return !std::exchange(heir, option).is_value();
    if (!option.is_tuple() || option.tuple_arity() != 2 || option.element(0) != atoms::protection ||
        protection)
      return false;
    protection = protection_of(option.element(1));
    return protection.has_value();
  };
  Term options = a[1];
  if (options.is_tuple() ? !read(options) : list_length(options) < 0) return raise_badarg(p);
  for (; options.is_list(); options = options.tail())
    if (!read(options.head())) return raise_badarg(p);
  Locked t(p, a[0], Access::kOwner);
  if (!t) return raise_badarg(p);
  if (heir) set_heir(p, heir, *t);
  if (protection) t->protection = *protection;
  return atoms::true_;
}

Term bif_ets_safe_fixtable_2(Process& p, const Term* a) {
  Released released;
  if (a[1] != atoms::true_ && a[1] != atoms::false_) return raise_badarg(p);
  Locked t(p.id, a[0], Access::kRead, true);
  if (!t) return raise_badarg(p);
  a[1] == atoms::true_ ? fix_table(*t, p.id) : unfix_table(*t, p.id, released);
  return atoms::true_;
}

// OTP's ets:info(Table, binary) is written in Erlang over what follows.

Term bif_erts_internal_ets_super_user_1(Process& p, const Term* a) {
  bool wanted;
  if (!read_boolean(a[0], &wanted)) return raise_badarg(p);
  make_super_user(p.id, wanted);
  return atoms::ok;
}

/// The first key of a traversal that meets deleted objects too.
Term bif_erts_internal_ets_raw_first_1(Process& p, const Term* a) {
  const Locked t(p, a[0], Access::kRead);
  if (!t) return raise_badarg(p);
  const Object* o = t.store().first_kept();
  return o ? ets::copy_out(p, t.store().key_of(o)) : atoms::end_of_table;
}
Term bif_erts_internal_ets_raw_next_2(Process& p, const Term* a) {
  const Locked t(p, a[0], Access::kRead);
  if (!t || a[1] == atoms::end_of_table) return raise_badarg(p);
  bool exists = true;
  const Object* o = t.store().next_kept(a[1], &exists);
  if (!exists) return raise_badarg(p);
  return o ? ets::copy_out(p, t.store().key_of(o)) : atoms::end_of_table;
}

/// (Table, Key): {Address, Bytes, References} of the binaries in the key's objects.
Term bif_erts_internal_ets_lookup_binary_info_2(Process& p, const Term* a) {
  if (came_back(p)) return run_on_dirty(p, bif_erts_internal_ets_lookup_binary_info_2, a, 2);
  const Locked t(p, a[0], Access::kRead);
  if (!t) return raise_badarg(p);
  Word count = 0;
  t.store().for_each_kept_of(a[1], [&](const Object* o) { count += o->words; });
  if (too_long(count)) return run_on_dirty(p, bif_erts_internal_ets_lookup_binary_info_2, a, 2);
  ListBuilder list(p.heap);
  t.store().for_each_kept_of(a[1], [&](const Object* o) { add_binaries(list, p, o); });
  return list.finish();
}

Term bif_ets_info_1(Process& p, const Term* a) {
  if (!is_table_id(a[0])) return raise_badarg(p);
  Locked t(p, a[0], Access::kNone);
  if (!t) return atoms::undefined;
  ListBuilder list(p.heap);
  for (const TableItem& item : kInfoItems) list.add(new_tuple(p.heap, item.name, item.value(p, *t)));
  return list.finish();
}

Term bif_ets_info_2(Process& p, const Term* a) {
  if (came_back(p)) return run_on_dirty(p, bif_ets_info_2, a, 2);
  if (!is_table_id(a[0]) || !a[1].is_atom()) return raise_badarg(p);
  Locked t(p, a[0], Access::kNone);
  if (!t) return atoms::undefined;  // whatever the item
  for (const TableItem& item : kInfoItems)
    if (item.name == a[1]) return item.value(p, *t);
  if (a[1] == intern_atom("stats") || a[1] == atoms::binary) {
    if (too_long(t->store->count())) return run_on_dirty(p, bif_ets_info_2, a, 2);
    return a[1] == atoms::binary ? binaries(p, *t) : statistics(p, *t);
  }
  if (a[1] == atoms::fixed) return bool_term(!t->fixers.empty());
  if (a[1] == atoms::safe_fixed) return fixations(p, *t, false);
  if (a[1] == atoms::safe_fixed_monotonic_time) return fixations(p, *t, true);
  return raise_badarg(p);
}

Term bif_ets_whereis_1(Process& p, const Term* a) {
  if (a[0].is_atom()) {
    const Term ref = whereis_table(p.heap, a[0]);
    return ref ? ref : atoms::undefined;
  }
  if (!is_table_id(a[0])) return raise_badarg(p);
  Locked t(p, a[0], Access::kNone);
  return t ? table_ref(p.heap, *t) : atoms::undefined;
}

namespace {

Term identifiers_of_all(Process& p) {
  ListBuilder list(p.heap);
  for_each_table([&](const Table& t) { list.add(table_id(p.heap, t)); });
  return list.finish();
}

}  // namespace

Term bif_ets_all_0(Process& p, const Term* a) {
  if (came_back(p) || too_long(most_tables())) return run_on_dirty(p, bif_ets_all_0, a, 0);
  return identifiers_of_all(p);
}

/// Returns a reference; a message {Ref, Tables} follows for each scheduler. The first one lists all
/// tables, and the lists of the others are empty.
Term bif_ets_internal_request_all_0(Process& p, const Term* a) {
  if (came_back(p) || too_long(most_tables())) return run_on_dirty(p, bif_ets_internal_request_all_0, a, 0);
  const Term ref = make_ref(p.heap);
  send_from_vm(p.id, new_tuple(p.heap, ref, identifiers_of_all(p)));
  for (unsigned i = 1; i < scheduler_count(); ++i) send_from_vm(p.id, new_tuple(p.heap, ref, Term::nil()));
  return ref;
}

}  // namespace vmrun
