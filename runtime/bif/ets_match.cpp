// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <optional>
#include <vector>

#include "runtime/bif/bifs_generated.hpp"
#include "runtime/bif/ets_support.hpp"
#include "runtime/bif/reduction_budget.hpp"
#include "runtime/bif/support.hpp"
#include "runtime/ets/match_spec.hpp"
#include "vm/base/small_limits.hpp"

/// Module ets: functions that walk a table with a pattern or a match specification. A walk through
/// a whole table that has few objects is done in one piece, under the table's lock. Otherwise it
/// runs on a dirty scheduler, some objects at a time, with the table fixed. Functions with a limit
/// return a continuation of the shape that ets:repair_continuation/2 knows: {Table, Bucket, Limit,
/// Compiled, Surplus, Form}, or for an ordered set {Table, Key, End, Limit, Compiled, Surplus,
/// Form, 0}.
namespace vmrun {

using namespace ets;

namespace {

/// What the caller has given and expects.
enum Form : SWord { kSelect, kMatch, kMatchObject, kSelectReverse };
constexpr const char* kOperations[] = {"select", "match", "match_object", "select_reverse"};

/// The number of objects that a dirty scheduler visits before it gives the lock back.
constexpr SWord kAtOnce = usual_or_small<SWord>(1000, 3);

MatchSpec clauses(Process& p, Term specification) {
  return specification.is_nil() ? MatchSpec::none(p) : MatchSpec(p, specification);
}

Term refused(Process& p, const MatchSpec& spec) {
  return spec.exceeds_limit() ? raise_system_limit(p) : raise_badarg(p);
}

MatchSpec make_spec(Process& p, Term pattern, Form form) {
  if (form == kMatch) return MatchSpec(p, pattern, MatchSpec::Result::kBindings);
  if (form == kMatchObject) return MatchSpec(p, pattern, MatchSpec::Result::kObject);
  return clauses(p, pattern);
}

/// The objects of a locked table that may match: those with the keys that the clauses ask for, or
/// all. Results of an ordered set must be in its order, so there it is one key or all objects.
class Candidates {
 public:
  Candidates(const Store& store, const MatchSpec& spec)
      : store_(store), keys_(spec.bound_keys(store.keypos())) {
    if (store.kind() != Kind::kOrderedSet) return;
    if (keys_.size() > 1) keys_.clear();
    start_.within = spec.key_pattern(store.keypos());
  }

  bool are_all() const { return keys_.empty(); }
  /// Whether a call visits more of them than a scheduler has time for. Each object is tried with
  /// one clause after the other.
  bool take_long() const {
    if (are_all()) return dirty_thread_kind() == DirtyKind::kNone && too_long(reach());
    Word steps = keys_.size() * keys_.size() - 1;
    if (is_bag(store_.kind()))
      for (const Term key : keys_)
        for (Object* o = store_.find(key); o && !too_long(steps); o = store_.next_same(o)) ++steps;
    return too_long(steps);
  }
  /// Whether the walk may be done in one piece: the objects are few, or the thread is a scheduler,
  /// where take_long has been checked before.
  bool in_one_piece() const {
    return !are_all() || steps_here() == static_cast<SWord>(kStepsOnScheduler) ||
           reach() <= kStepsOnScheduler;
  }

  /// Returns the number of visited objects.
  template <class Visit>
  Word walk(Process& p, bool backwards, Visit&& visit) const {
    Word count = 0;
    for (const Term key : keys_)
      for (Object* o = store_.find(key); o; o = store_.next_same(o), ++count) visit(o);
    if (!are_all()) return charge(p, static_cast<SWord>(keys_.size() - 1)), count;
    Position at = start_;
    store_.walk(at, backwards, [&](Object* o) { return visit(o), ++count, true; });
    charge(p, static_cast<SWord>(count));
    return count;
  }

 private:
  /// Returns how many objects a walk visits when the keys are not known. If a part of the key is
  /// known, counting ends at one more than a scheduler has time for.
  Word reach() const {
    if (!start_.within) return store_.count();
    Word count = 0;
    Position at = start_;
    store_.walk(at, false, [&](Object*) { return ++count <= kStepsOnScheduler; });
    return count;
  }

  const Store& store_;
  std::vector<Term> keys_;
  Position start_;
};

/// Walks all objects on a dirty scheduler. A table of many objects is locked for some of them at a
/// time, and is fixed meanwhile. Calls visit(object), after each part and still under the lock
/// done(store), and at the end over(table, number of objects). Returns false when the table has
/// been deleted or the process has lost its right to use it.
template <class Visit, class Done, class Over>
bool walk_in_parts(Process& p, Term id, const MatchSpec& spec, Access access, bool backwards, Visit&& visit,
                   Done&& done, Over&& over) {
  Position at;
  {
    Locked t(p.id, id, access, true);
    if (!t) return false;
    fix_table(*t, p.id);
    at.within = spec.key_pattern(t.store().keypos());
  }
  Word total = 0;
  bool there = true;
  while (there && at.state != Position::kEnd) {
    Released released;
    Locked t(p, id, access);
    there = static_cast<bool>(t);
    if (!there) break;
    SWord visited = 0;
    t.store().walk(at, backwards, [&](Object* o) {
      visit(o);
      return ++visited < kAtOnce;
    });
    if (at.state == Position::kInside && at.key) at.key = copy_to(p.heap, at.key);
    done(t.store(), released);
    charge(p, visited);
    total += static_cast<Word>(visited);
  }
  Released released;
  if (Locked t(p.id, id, Access::kNone, true); t) {
    unfix_table(*t, p.id, released);
    if (there) over(*t, total);
  }
  return there;
}

Term select_all(Process& p, const Term* a, unsigned arity, Form form, BifFn self) {
  if (came_back(p)) return run_on_dirty(p, self, a, arity);
  const Term id = a[0], pattern = arity == 1 ? atoms::underscore : a[1];
  MatchSpec spec = make_spec(p, pattern, form);
  // The list is built from its end.
  Term list = Term::nil();
  const bool backwards = form != kSelectReverse;
  const auto visit = [&](Object* o) {
    const Term result = spec.run(o->tuple);
    if (!result) return;
    const Term copy = copy_out(p, result);
    Term* hp = p.heap.alloc(2);
    list = make_cons(hp, copy, list);
  };
  const auto over = [&](const Table& t, Word examined) {
    if (probe::ets_lookup_enabled()) [[unlikely]]
      fire_lookup(p, t, arity == 1 ? "tab2list" : kOperations[form], static_cast<Word>(list_length(list)),
                  examined);
  };
  {
    Locked t(p, id, Access::kRead);
    if (!t || !spec.valid()) return refused(p, spec);
    const Candidates candidates(t.store(), spec);
    if (candidates.take_long()) return run_on_dirty(p, self, a, arity);
    if (candidates.in_one_piece()) {
      over(*t, candidates.walk(p, backwards, visit));
      return list;
    }
  }
  const auto nothing = [](Store&, Released&) {};
  return walk_in_parts(p, id, spec, Access::kRead, backwards, visit, nothing, over) ? list : raise_badarg(p);
}

/// Keeps the table fixed during its lifetime, on a dirty scheduler, between whose steps other
/// processes use the table.
class FixedOnDirty {
 public:
  FixedOnDirty(Process& p, Term id) : p_(p), id_(id) {
    if (dirty_thread_kind() == DirtyKind::kNone) return;
    if (Locked t(p.id, id, Access::kRead, true); t) fix_table(*t, p.id), fixed_ = true;
  }
  ~FixedOnDirty() {
    Released released;
    if (!fixed_) return;
    if (Locked t(p_.id, id_, Access::kNone, true); t) unfix_table(*t, p_.id, released);
  }
  FixedOnDirty(const FixedOnDirty&) = delete;

 private:
  Process& p_;
  const Term id_;
  bool fixed_ = false;
};

/// The call of `self`, to be repeated on a dirty scheduler.
struct MatchCall {
  BifFn self;
  const Term* arguments;
  unsigned arity;
};

struct Chunk {
  Term pattern;
  SWord limit;
  Term surplus;  // results of an earlier chunk, not returned yet
  Form form;
};

/// A specification that has been checked: {'$compiled_match_spec', Specification}.
bool is_compiled(Term t) {
  return t.is_tuple() && t.tuple_arity() == 2 && t.element(0) == atoms::compiled_match_spec;
}
Term compiled(Process& p, Term specification) {
  return new_tuple(p.heap, atoms::compiled_match_spec, specification);
}

constexpr SWord kNoBucket = -1;  // only the surplus is left

Term continuation(Process& p, Term table, bool ordered, const Position& at, const Chunk& c) {
  const bool inside = at.state == Position::kInside;
  const Term spec = compiled(p, c.pattern), limit = Term::small(c.limit), form = Term::small(c.form);
  if (ordered)
    return new_tuple(p.heap, table, inside ? at.key : Term::nil(), inside ? Term::nil() : atoms::end_of_table,
                     limit, spec, c.surplus, form, Term::small(0));
  const Term bucket = Term::small(inside ? static_cast<SWord>(at.bucket) : kNoBucket);
  return new_tuple(p.heap, table, bucket, limit, spec, c.surplus, form);
}

/// Reads what `continuation` has made. Returns false for any other term.
bool read_continuation(Term t, bool* ordered, Position* at, Chunk* c) {
  if (!t.is_tuple() || (t.tuple_arity() != 6 && t.tuple_arity() != 8)) return false;
  *ordered = t.tuple_arity() == 8;
  const unsigned rest = *ordered ? 3 : 2;
  const Term spec = t.element(rest + 1);
  SWord form, bucket = kNoBucket;
  if (!small_in_range(t.element(rest), 1, Term::kSmallMax, &c->limit) || !is_compiled(spec) ||
      list_length(t.element(rest + 2)) < 0 ||
      !small_in_range(t.element(rest + 3), kSelect, kSelectReverse, &form) ||
      (!*ordered && !small_in_range(t.element(1), kNoBucket, Term::kSmallMax, &bucket)))
    return false;
  c->pattern = spec.element(1);
  c->surplus = t.element(rest + 2);
  c->form = static_cast<Form>(form);
  const bool at_end = *ordered ? t.element(2) == atoms::end_of_table : bucket == kNoBucket;
  at->state = at_end ? Position::kEnd : Position::kInside;
  if (*ordered) at->key = t.element(1);
  else if (!at_end) at->bucket = static_cast<std::size_t>(bucket);
  return true;
}

/// Reverses a list whose cells are not yet visible elsewhere.
Term reverse_in_place(Term list) {
  Term reversed = Term::nil();
  while (list.is_list()) {
    Term* const cell = list.list_ptr();
    const Term rest = cell[1];
    cell[1] = reversed;
    reversed = list;
    list = rest;
  }
  return reversed;
}

/// Returns a chunk from `at`, which moves on. In tables without an order the last result comes
/// first, so that objects of one key come in the order in which they were inserted.
Term select_chunk(Process& p, Term id, Position at, Chunk c, const MatchCall& call) {
  const bool here = dirty_thread_kind() == DirtyKind::kNone;
  const SWord at_once = here ? kStepsOnScheduler / 8 : kAtOnce;
  MatchSpec spec = make_spec(p, c.pattern, c.form);
  const FixedOnDirty fixed(p, id);
  ListBuilder chunk(p.heap), rest(p.heap);
  SWord count = 0;
  for (; c.surplus.is_list() && count < c.limit; c.surplus = c.surplus.tail(), ++count)
    chunk.add(c.surplus.head());
  const auto wants_more = [&] { return at.state != Position::kEnd && count < c.limit; };
  const bool walks = wants_more();
  bool ordered = false;
  Term own_id;
  Word examined = 0;
  for (bool first = true; first || wants_more(); first = false) {
    Locked t(p, id, Access::kRead);
    if (!t || !spec.valid()) return refused(p, spec);
    ordered = t.store().kind() == Kind::kOrderedSet;
    if (ordered) at.within = spec.key_pattern(t.store().keypos());
    own_id = ordered ? id : table_ref(p.heap, *t);  // OTP does this too
    if (walks) {
      SWord visited = 0;
      const auto visit = [&](Object* o) {
        if (const Term result = spec.run(o->tuple)) {
          const Term copy = copy_out(p, result);
          count < c.limit ? chunk.add(copy) : rest.add(copy);
          ++count;
        }
        return ++visited < at_once && count < c.limit;
      };
      std::optional<Candidates> few;  // objects with given keys are all fetched at the start
      if (at.state == Position::kStart) few.emplace(t.store(), spec);
      if (!few || few->are_all()) {
        t.store().walk(at, c.form == kSelectReverse, visit);
      } else {  // the surplus of this chunk is kept for the next ones
        if (few->take_long()) return run_on_dirty(p, call.self, call.arguments, call.arity);
        few->walk(p, false, visit);
        at.state = Position::kEnd;
      }
      if (at.state == Position::kInside && at.key) at.key = copy_to(p.heap, at.key);
      charge(p, visited * 2);
      examined += static_cast<Word>(visited);
    }
    if (here && wants_more()) return run_on_dirty(p, call.self, call.arguments, call.arity);
    if (!wants_more())
      note_lookup(p, *t, kOperations[c.form], static_cast<Word>(std::min(count, c.limit)), examined);
  }
  if (walks) c.surplus = rest.finish();
  if (count == 0) return atoms::end_of_table;
  const bool over = at.state == Position::kEnd && c.surplus.is_nil();
  const Term matches = ordered ? chunk.finish() : reverse_in_place(chunk.finish());
  return new_tuple(p.heap, matches, over ? atoms::end_of_table : continuation(p, own_id, ordered, at, c));
}

Term select_first(Process& p, const Term* a, Form form, BifFn self) {
  if (came_back(p)) return run_on_dirty(p, self, a, 3);
  SWord limit;
  if (!small_in_range(a[2], 1, Term::kSmallMax, &limit)) return raise_badarg(p);
  return select_chunk(p, a[0], Position(), {a[1], limit, Term::nil(), form}, {self, a, 3});
}

Term select_more(Process& p, const Term* a, BifFn self) {
  if (came_back(p)) return run_on_dirty(p, self, a, 1);
  const Term c = a[0];
  if (c == atoms::end_of_table) return c;
  bool ordered;
  Position at;
  Chunk chunk;
  if (!read_continuation(c, &ordered, &at, &chunk)) return raise_badarg(p);
  {
    Locked t(p, c.element(0), Access::kRead);  // a position of the other kind of store is not valid
    if (!t || (t.store().kind() == Kind::kOrderedSet) != ordered) return raise_badarg(p);
  }
  return select_chunk(p, c.element(0), at, chunk, {self, a, 1});
}

/// Finds the objects for which the specification gives the wanted result. Then calls then(store,
/// objects, released), and `answer` with their number. operation: with Access::kRead one that
/// reads, else one that writes.
template <class Answer, class Then>
Term chosen_objects(Process& p, const Term* a, MatchSpec& spec, Access access, bool only_true,
                    const char* operation, BifFn self, Answer&& answer, Then&& then) {
  if (came_back(p)) return run_on_dirty(p, self, a, 2);
  std::vector<Object*> chosen;
  Word count = 0;
  const auto visit = [&](Object* o) {
    const Term result = spec.run(o->tuple);
    if (only_true ? result == atoms::true_ : result.is_value()) chosen.push_back(o);
  };
  const auto done = [&](Store& store, Released& released) {
    count += chosen.size();
    then(store, chosen, released);
    chosen.clear();
  };
  const auto over = [&](const Table& t, Word examined) {
    access == Access::kRead ? note_lookup(p, t, operation, count, examined)
                            : note_write(p, t, operation, count);
  };
  {
    Released released;
    Locked t(p, a[0], access);
    if (!t || !spec.valid()) return refused(p, spec);
    const Candidates candidates(t.store(), spec);
    if (candidates.take_long()) return run_on_dirty(p, self, a, 2);
    if (candidates.in_one_piece()) {
      const Word examined = candidates.walk(p, false, visit);
      done(t.store(), released);
      over(*t, examined);
      return answer(count);
    }
  }
  return walk_in_parts(p, a[0], spec, access, false, visit, done, over) ? answer(count) : raise_badarg(p);
}

template <class Then>
Term count_true(Process& p, const Term* a, Access access, const char* operation, BifFn self, Then&& then) {
  MatchSpec spec = clauses(p, a[1]);
  const auto answer = [](Word count) { return Term::small(static_cast<SWord>(count)); };
  return chosen_objects(p, a, spec, access, true, operation, self, answer, then);
}

void erase_all(Store& store, const std::vector<Object*>& objects, Released& released) {
  for (Object* o : objects) store.erase(o, released);
}

}  // namespace

/// Why a function failed that should have gone on with a continuation.
Term more_cause(Process& p, unsigned arity, const Term* a) {
  if (!a[0].is_tuple() || a[0].tuple_arity() == 0) return kNonValue;
  const Term table = a[0].element(0);
  return table_cause(p, arity, &table);
}

Term bif_ets_match_spec_compile_1(Process& p, const Term* a) {
  const MatchSpec spec(p, a[0]);
  return spec.valid() ? compiled(p, a[0]) : refused(p, spec);
}
Term bif_ets_is_compiled_ms_1(Process&, const Term* a) { return bool_term(is_compiled(a[0])); }

Term bif_ets_match_spec_run_r_3(Process& p, const Term* a) {
  if (came_back(p)) return run_on_dirty(p, bif_ets_match_spec_run_r_3, a, 3);
  SWord length;
  constexpr Word kStepsOfOne = 8;
  if (!length_here(a[0], &length) || too_long(kStepsOfOne * static_cast<Word>(std::max<SWord>(length, 0))))
    return run_on_dirty(p, bif_ets_match_spec_run_r_3, a, 3);
  if (!is_compiled(a[1]) || length < 0) return raise_badarg(p);
  MatchSpec spec(p, a[1].element(1));
  if (!spec.valid()) return raise_badarg(p);
  Term results = a[2];
  for (Term objects = a[0]; objects.is_list(); objects = objects.tail()) {
    charge(p, kStepsOfOne);
    const Term result = spec.run(objects.head());
    if (!result) continue;
    Term* hp = p.heap.alloc(2);
    results = make_cons(hp, result, results);
  }
  return results;
}

Term bif_ets_tab2list_1(Process& p, const Term* a) {
  return select_all(p, a, 1, kMatchObject, bif_ets_tab2list_1);
}

Term bif_ets_match_2(Process& p, const Term* a) { return select_all(p, a, 2, kMatch, bif_ets_match_2); }
Term bif_ets_match_3(Process& p, const Term* a) { return select_first(p, a, kMatch, bif_ets_match_3); }
Term bif_ets_match_1(Process& p, const Term* a) { return select_more(p, a, bif_ets_match_1); }
Term bif_ets_match_object_2(Process& p, const Term* a) {
  return select_all(p, a, 2, kMatchObject, bif_ets_match_object_2);
}
Term bif_ets_match_object_3(Process& p, const Term* a) {
  return select_first(p, a, kMatchObject, bif_ets_match_object_3);
}
Term bif_ets_match_object_1(Process& p, const Term* a) { return select_more(p, a, bif_ets_match_object_1); }
Term bif_ets_select_2(Process& p, const Term* a) { return select_all(p, a, 2, kSelect, bif_ets_select_2); }
Term bif_ets_select_3(Process& p, const Term* a) { return select_first(p, a, kSelect, bif_ets_select_3); }
Term bif_ets_select_1(Process& p, const Term* a) { return select_more(p, a, bif_ets_select_1); }
Term bif_ets_select_reverse_2(Process& p, const Term* a) {
  return select_all(p, a, 2, kSelectReverse, bif_ets_select_reverse_2);
}
Term bif_ets_select_reverse_3(Process& p, const Term* a) {
  return select_first(p, a, kSelectReverse, bif_ets_select_reverse_3);
}
Term bif_ets_select_reverse_1(Process& p, const Term* a) {
  return select_more(p, a, bif_ets_select_reverse_1);
}

Term bif_ets_select_count_2(Process& p, const Term* a) {
  return count_true(p, a, Access::kRead, "select_count", bif_ets_select_count_2,
                    [](Store&, const std::vector<Object*>&, Released&) {});
}
Term bif_ets_internal_select_delete_2(Process& p, const Term* a) {
  return count_true(p, a, Access::kWrite, "select_delete", bif_ets_internal_select_delete_2, erase_all);
}

Term bif_ets_match_delete_2(Process& p, const Term* a) {
  MatchSpec spec = make_spec(p, a[1], kMatchObject);
  const auto answer = [](Word) { return atoms::true_; };
  return chosen_objects(p, a, spec, Access::kWrite, false, "match_delete", bif_ets_match_delete_2, answer,
                        erase_all);
}

/// If an object's replacement has another key, objects that were visited before stay replaced.
Term bif_ets_select_replace_2(Process& p, const Term* a) {
  if (came_back(p)) return run_on_dirty(p, bif_ets_select_replace_2, a, 2);
  MatchSpec spec = clauses(p, a[1]);
  struct Change {
    Object *old, *fresh;
  };
  std::vector<Change> changes;
  Word count = 0, keypos = 0;
  bool good = true;
  const auto visit = [&](Object* o) {
    const Term result = good ? spec.run(o->tuple) : kNonValue;
    if (!result) return;
    good = result.is_tuple() && result.tuple_arity() >= keypos &&
           equal_exact(result.element(keypos - 1), o->tuple.element(keypos - 1));
    if (good) changes.push_back({o, make_object(result)});
  };
  const auto done = [&](Store& store, Released& released) {
    for (const Change& c : changes) good ? store.replace(c.old, c.fresh, released) : released.add(c.fresh);
    count += changes.size();
    changes.clear();
  };
  const auto over = [&](const Table& t, Word) {
    if (good) note_write(p, t, "select_replace", count);
  };
  {
    Released released;
    Locked t(p, a[0], Access::kWrite);
    if (!t || !spec.valid() || t.store().kind() == Kind::kBag) return refused(p, spec);
    keypos = t.store().keypos();
    if (!spec.keep_key(keypos)) return raise_badarg(p);
    const Candidates candidates(t.store(), spec);
    if (candidates.take_long()) return run_on_dirty(p, bif_ets_select_replace_2, a, 2);
    if (candidates.in_one_piece()) {
      const Word examined = candidates.walk(p, false, visit);
      done(t.store(), released);
      over(*t, examined);
      return good ? Term::small(static_cast<SWord>(count)) : raise_badarg(p);
    }
  }
  const bool there = walk_in_parts(p, a[0], spec, Access::kWrite, false, visit, done, over);
  return there && good ? Term::small(static_cast<SWord>(count)) : raise_badarg(p);
}

Term select_replace_cause(Process& p, unsigned arity, const Term* a) {
  static const Term table_type = intern_atom("table_type");
  const Locked t(p, a[0], Access::kWrite, std::uint64_t{0});
  if (!t) return written_table_cause(p, arity, a);
  return t.store().kind() == Kind::kBag ? table_type : kNonValue;
}

}  // namespace vmrun
