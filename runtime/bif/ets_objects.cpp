// SPDX-License-Identifier: Apache-2.0
#include <vector>

#include "runtime/bif/bifs_generated.hpp"
#include "runtime/bif/ets_support.hpp"
#include "runtime/bif/reduction_budget.hpp"
#include "runtime/bif/support.hpp"
#include "vm/base/release.hpp"

/// Module ets: single objects, keys, counters.
namespace vmrun {

using namespace ets;

namespace ets {

namespace {

/// A function of its own, so that copy_out saves no registers for it.
[[gnu::cold, gnu::noinline]] void fire_copied(const Process& p, Term t) {
  const auto words = size_words(t);
  if (probe::copy_object_enabled()) probe::fire_copy_object(p.id, words);
  if (probe::copy_struct_enabled()) probe::fire_copy_struct(words);
}

}  // namespace

Term copy_out(Process& p, Term t) {
  if (t.is_immed()) return t;
  if (probe::copy_object_enabled() || probe::copy_struct_enabled()) [[unlikely]]
    fire_copied(p, t);
  return copy_to(p.heap, t);
}

Term group_list(Process& p, const Store& store, Object* newest, Term behind) {
  Term list = behind;
  for (Object* o = newest; o; o = store.next_same(o)) {
    const Term object = copy_out(p, o->tuple);
    Term* hp = p.heap.alloc(2);
    list = make_cons(hp, object, list);
  }
  return list;
}

namespace {

/// The identifier of a table while a probe fires.
class ShownTable {
 public:
  explicit ShownTable(const Table& t) : id_(make_ref(hp_, t.key)) {}
  operator Term() const { return id_; }
  ShownTable(const ShownTable&) = delete;

 private:
  Term words_[kRefWords], *hp_ = words_;
  const Term id_;
};

std::int64_t shown(Word n) { return static_cast<std::int64_t>(n); }

}  // namespace

void fire_lookup(const Process& p, const Table& t, const char* operation, Word found, Word examined) {
  probe::fire_ets_lookup(p.id, t.name, ShownTable(t), operation, shown(found), shown(examined));
}
void fire_lookup(const Process& p, const Table& t, const char* operation, Object* newest) {
  Word count = 0;
  for (Object* o = newest; o; o = t.store->next_same(o)) ++count;
  fire_lookup(p, t, operation, count, count);
}
void fire_write(const Process& p, const Table& t, const char* operation, Term objects) {
  fire_write(p, t, operation, objects.is_cons_or_nil() ? static_cast<Word>(list_length(objects)) : 1);
}
void fire_write(const Process& p, const Table& t, const char* operation, Word objects) {
  probe::fire_ets_write(p.id, t.name, ShownTable(t), operation, shown(objects), shown(t.store->count()));
}

}  // namespace ets

namespace {

/// The words that copies of an object and of the others with its key take.
Word group_words(const Store& store, Object* newest) {
  Word words = 0;
  for (Object* o = newest; o; o = store.next_same(o)) words += o->words;
  return words;
}

bool is_object(Term t, Word keypos) { return t.is_tuple() && t.tuple_arity() >= keypos; }

/// Whether an update takes this default object, if the table has an object of the key.
bool is_default(Term t, Word keypos) {
  return release_has(Trait::kDefaultObjectsChecked) ? is_object(t, keypos) : t.is_tuple();
}

/// Whether the term is an object to insert, or a proper list of them. Also returns false when the
/// steps are used up. Inserting an object takes some four steps besides copying it.
bool are_objects(Term t, Word keypos, ReductionBudget& steps) {
  if (!t.is_cons_or_nil()) return is_object(t, keypos);
  for (; t.is_list(); t = t.tail()) {
    if (!is_object(t.head(), keypos) || !steps.spend(4)) return false;
  }
  return t.is_nil();
}

/// Copies of the objects to insert, in this order. They are made before the table is locked.
class Copies {
 public:
  Copies() = default;
  Copies(const Copies&) = delete;
  ~Copies() {
    take_each([](Object* o) { destroy_object(o); });
  }
  /// Returns false when the steps are used up.
  bool add(Process& p, Term tuple, ReductionBudget& steps) {
    Object* o = steps.used_up() ? nullptr : make_object_within(steps.left(), tuple);
    if (!o) return false;
    (void)steps.spend(o->words);
    charge(p, SWord{8 + o->words / 2});
    *end_ = o;
    end_ = &o->next;
    return true;
  }
  /// Adds an object or a list of them. Returns false when the steps are used up.
  bool add_all(Process& p, Term objects, ReductionBudget& steps) {
    if (!objects.is_cons_or_nil()) return add(p, objects, steps);
    for (; objects.is_list(); objects = objects.tail())
      if (!add(p, objects.head(), steps)) return false;
    return true;
  }
  template <class Fn>
  bool all_of(Fn is_so) const {
    for (const Object* o = first_; o; o = o->next)
      if (!is_so(o)) return false;
    return true;
  }
  template <class Fn>
  void take_each(Fn take) {
    while (Object* o = first_) {
      first_ = o->next;
      take(o);
    }
    end_ = &first_;
  }

 private:
  Object* first_ = nullptr;  // linked by `next`, which is null in a new object
  Object** end_ = &first_;
};

/// Makes a copy of the tuple with the given elements.
Object* changed_copy(Process& p, Term tuple, const std::vector<Term>& elements) {
  Term* copy = p.heap.alloc(elements.size() + 1);
  copy[0] = *tuple.boxed_ptr();
  for (Word i = 0; i < elements.size(); ++i) copy[i + 1] = elements[i];
  Object* o = make_object(Term::boxed(copy));
  p.heap.give_back(copy, copy + elements.size() + 1);
  return o;
}
std::vector<Term> elements_of(Term tuple) {
  return {tuple.tuple_elements(), tuple.tuple_elements() + tuple.tuple_arity()};
}

/// Reads one {Pos, Value} of update_element. The key cannot be changed.
bool read_change(Term change, Word keypos, Word arity, SWord* position, Term* value) {
  if (!change.is_tuple() || change.tuple_arity() != 2) return false;
  *value = change.element(1);
  return small_in_range(change.element(0), 1, static_cast<SWord>(arity), position) &&
         *position != static_cast<SWord>(keypos);
}

/// One operation of update_counter.
struct CounterStep {
  SWord position;
  Term increment, threshold, reset;

  bool fits(Word keypos, Word size) const {
    return position != static_cast<SWord>(keypos) && position >= 1 && position <= static_cast<SWord>(size);
  }
};
/// Reads an operation of update_counter. Returns false when the term cannot be one for any object.
bool read_step(Term t, Word keypos, CounterStep* s) {
  *s = {static_cast<SWord>(keypos) + 1, t, kNonValue, kNonValue};
  if (t.is_tuple()) {
    if (t.tuple_arity() != 2 && t.tuple_arity() != 4) return false;
    if (!t.element(0).is_small()) return false;
    s->position = t.element(0).small_value();
    s->increment = t.element(1);
    if (t.tuple_arity() == 4) {
      s->threshold = t.element(2);
      s->reset = t.element(3);
      if (!s->threshold.is_integer() || !s->reset.is_integer()) return false;
    }
  }
  return s->increment.is_integer();
}

/// Applies a step to the elements. Returns the new value, or kNonValue.
Term apply_step(Process& p, const CounterStep& s, std::vector<Term>& elements) {
  Term& element = elements[static_cast<Word>(s.position) - 1];
  if (!element.is_integer()) return kNonValue;
  const Term arguments[] = {element, s.increment};
  Term sum = bif_erlang_plus_2(p, arguments);
  if (!sum) return kNonValue;
  if (s.threshold) {
    const bool up = compare(s.increment, Term::small(0)) >= 0;
    if (up ? compare(sum, s.threshold) > 0 : compare(sum, s.threshold) < 0) sum = s.reset;
  }
  return element = sum;
}

/// The object under a key, or the default that is to be inserted, while its elements change.
struct Update {
  Object* object;
  Term tuple;  // of object, or the default; the non-value if there is neither
  std::vector<Term> elements;

  Update(Store& store, Term key, Object* found, Term initial)
      : object(found), tuple(found ? found->tuple : initial) {
    if (!tuple) return;
    elements = elements_of(tuple);
    if (!object) elements[store.keypos() - 1] = key;
  }
  void commit(Process& p, Store& store, Released& released) {
    Object* fresh = changed_copy(p, tuple, elements);
    object ? store.replace(object, fresh, released) : store.insert(fresh, released);
  }
};

/// Operations that make small integers from small integers, as most do. They are done in the object
/// itself, and are undone if a later one is not of that kind.
class InPlace {
 public:
  InPlace(Object& o, Word keypos) : tuple_(o.tuple), keypos_(keypos) {}

  /// Does an operation, or a list of them. Returns the new value, or a list of new values; the
  /// non-value if this is not possible here.
  Term update(Process& p, Term operation) {
    if (!operation.is_cons_or_nil()) return step(operation);
    Term values[kMost];
    Word count = 0;
    for (; operation.is_list(); operation = operation.tail(), ++count) {
      // A plain increment is an operation only outside of a list.
      const bool can_be = count < kMost && operation.head().is_tuple();
      const Term value = can_be ? step(operation.head()) : kNonValue;
      if (!value) return undo(count);
      values[count] = value;
    }
    if (!operation.is_nil()) return undo(count);
    Term list = Term::nil();
    Term* hp = p.heap.alloc(2 * count);
    while (count) list = make_cons(hp, values[--count], list);
    return list;
  }

 private:
  static constexpr Word kMost = 8;

  Term step(Term operation) {
    CounterStep s;
    if (!read_step(operation, keypos_, &s) || s.threshold || !s.fits(keypos_, tuple_.tuple_arity()))
      return kNonValue;
    Term& element = tuple_.tuple_elements()[s.position - 1];
    if (!element.is_small() || !s.increment.is_small() ||
        !Term::fits_small(element.small_value() + s.increment.small_value()))
      return kNonValue;
    *done_++ = {&element, element};
    return element = Term::small(element.small_value() + s.increment.small_value());
  }
  Term undo(Word count) {
    while (count--) {
      --done_;
      *done_->element = done_->before;
    }
    return kNonValue;
  }

  const Term tuple_;
  const Word keypos_;
  struct Done {
    Term* element;
    Term before;
  } changes_[kMost], *done_ = changes_;
};

Term update_counter(Process& p, Term id, Term key, Term operation, Term initial) {
  Released released;
  Locked t(p, id, Access::kWrite, key);
  if (!t || is_bag(t.store().kind()) || (initial && !is_default(initial, t.store().keypos())))
    return raise_badarg(p);
  Store& store = t.store();
  charge(p, 8);
  Object* o = store.find(key);
  if (o) {
    if (const Term result = InPlace(*o, store.keypos()).update(p, operation))
      return note_write(p, *t, "update_counter", 1), result;
  } else if (!initial || !is_object(initial, store.keypos())) {
    return raise_badarg(p);
  }
  Update update(store, key, o, initial);
  const auto step = [&](Term t) {
    CounterStep s;
    const bool can_be = read_step(t, store.keypos(), &s) && s.fits(store.keypos(), update.elements.size());
    return can_be ? apply_step(p, s, update.elements) : kNonValue;
  };
  Term result;
  if (operation.is_cons_or_nil()) {
    if (list_length(operation) < 0) return raise_badarg(p);
    ListBuilder results(p.heap);
    for (; operation.is_list(); operation = operation.tail()) {
      const Term value = operation.head().is_tuple() ? step(operation.head()) : kNonValue;
      if (!value) return raise_badarg(p);
      results.add(value);
    }
    result = results.finish();
  } else {
    result = step(operation);
    if (!result) return raise_badarg(p);
  }
  update.commit(p, store, released);
  note_write(p, *t, "update_counter", 1);
  return result;
}

Term update_element(Process& p, Term id, Term key, Term changes, Term initial) {
  Released released;
  Locked t(p, id, Access::kWrite, key);
  if (!t || is_bag(t.store().kind())) return raise_badarg(p);
  Store& store = t.store();
  charge(p, 8);
  if (initial && !is_default(initial, store.keypos())) return raise_badarg(p);
  Object* o = store.find(key);
  if (!o && initial && !is_object(initial, store.keypos())) return raise_badarg(p);
  Update update(store, key, o, initial);
  // If there is no object to change, the changes are not checked.
  if (!update.tuple) return note_write(p, *t, "update_element", 0), atoms::false_;
  const auto apply = [&](Term change) {
    SWord position;
    Term value;
    if (!read_change(change, store.keypos(), update.elements.size(), &position, &value)) return false;
    update.elements[static_cast<Word>(position) - 1] = value;
    return true;
  };
  if (changes.is_cons_or_nil()) {
    if (list_length(changes) < 0) return raise_badarg(p);
    for (; changes.is_list(); changes = changes.tail()) {
      if (!apply(changes.head())) return raise_badarg(p);
    }
  } else if (!apply(changes)) {
    return raise_badarg(p);
  }
  update.commit(p, store, released);
  note_write(p, *t, "update_element", 1);
  return atoms::true_;
}

Term lookup_element(Process& p, const Term* a, unsigned arity, BifFn self) {
  if (came_back(p)) return run_on_dirty(p, self, a, arity);
  Locked t(p, a[0], Access::kRead, a[1]);
  SWord pos;
  if (!t || !small_in_range(a[2], 1, static_cast<SWord>(kMaxTupleElements), &pos)) return raise_badarg(p);
  Object* o = t.store().find(a[1]);
  if (!o && arity != 4) return raise_badarg(p);
  if (o && too_long(group_words(t.store(), o))) return run_on_dirty(p, self, a, arity);
  const auto found = [&](Term value) {
    if (!value) return raise_badarg(p);
    note_lookup(p, *t, "lookup_element", o);
    return value;
  };
  if (!o) return found(a[3]);
  const auto element = [&](const Object* object) {
    return pos <= static_cast<SWord>(object->tuple.tuple_arity())
               ? copy_out(p, object->tuple.element(static_cast<Word>(pos) - 1))
               : kNonValue;
  };
  if (!is_bag(t.store().kind())) return found(element(o));
  Term list = Term::nil();
  for (Object* each = o; each; each = t.store().next_same(each)) {
    const Term value = element(each);
    if (!value) return found(kNonValue);
    Term* hp = p.heap.alloc(2);
    list = make_cons(hp, value, list);
  }
  return found(list);
}

/// A function that makes one step of a traversal, with its arguments.
struct Step {
  const char* operation;
  const Term* a;
  unsigned arity;
  BifFn self;
  bool with_objects;  // returns {Key, Objects}; otherwise the key alone
};

/// Returns the result of a traversal step to the newest object of a key, or to the end.
Term found_by(Process& p, const Step& s, const Locked& t, Object* o) {
  if (!o || !s.with_objects) {
    note_lookup(p, *t, s.operation, o != nullptr, o != nullptr);
    return o ? copy_out(p, t.store().key_of(o)) : atoms::end_of_table;
  }
  if (too_long(group_words(t.store(), o))) return run_on_dirty(p, s.self, s.a, s.arity);
  note_lookup(p, *t, s.operation, o);
  const Term key = copy_out(p, t.store().key_of(o));
  return new_tuple(p.heap, key, group_list(p, t.store(), o));
}

/// step(store, exists) returns the newest object of the key to step to.
template <class ToNext>
Term traversal(Process& p, const Step& s, ToNext step) {
  if (came_back(p)) return run_on_dirty(p, s.self, s.a, s.arity);
  Locked t(p, s.a[0], Access::kRead);
  if (!t || (s.arity == 2 && s.a[1] == atoms::end_of_table)) return raise_badarg(p);
  charge(p, 8);
  bool exists = true;
  Object* o = step(t.store(), &exists);
  return exists ? found_by(p, s, t, o) : raise_badarg(p);
}
Term first_of_all(Process& p, const Step& s) {
  return traversal(p, s, [](const Store& store, bool*) { return store.first(); });
}
Term last_of_all(Process& p, const Step& s) {
  return traversal(p, s, [](const Store& store, bool*) { return store.last(); });
}
Term step_back(Process& p, const Step& s) {
  return traversal(p, s, [&s](const Store& store, bool* exists) { return store.previous(s.a[1], exists); });
}
/// In a table with stripes only one of them is locked at a time. A walk through a table that is not
/// fixed may miss objects or meet them twice anyway.
Term step_forward(Process& p, const Step& s) {
  if (came_back(p)) return run_on_dirty(p, s.self, s.a, s.arity);
  charge(p, 8);
  const Term key = s.a[1];
  std::size_t bucket = 0;
  {
    const Locked t(p, s.a[0], Access::kRead, key);
    if (!t || key == atoms::end_of_table) return raise_badarg(p);
    const bool striped = t.store().striped();
    bool exists = true;
    Object* o = striped ? t.store().next_in_bucket(key, &exists, &bucket) : t.store().next(key, &exists);
    if (!exists) return raise_badarg(p);
    if (o || !striped) return found_by(p, s, t, o);
  }
  for (;; ++bucket) {
    const Locked t(p, s.a[0], Access::kRead, std::uint64_t{bucket});
    if (!t) return raise_badarg(p);
    const bool at_end = bucket >= t.store().bucket_count();
    Object* o = at_end ? nullptr : t.store().first_of_bucket(bucket);
    if (o || at_end) return found_by(p, s, t, o);
  }
}

/// Returns the number of erased objects.
Word erase_group(Store& store, Object* newest, Released& released) {
  Word count = 0;
  for (; newest; ++count) {
    Object* older = store.next_same(newest);
    store.erase(newest, released);
    newest = older;
  }
  return count;
}

/// Locks the table for inserting an object, or a list of them.
Locked locked_for(Process& p, Term id, Term objects, Word keypos) {
  return objects.is_tuple() ? Locked(p, id, Access::kWrite, objects.element(keypos - 1))
                            : Locked(p, id, Access::kWrite);
}

/// insert/2 and insert_new/2. put(store, copies, released) inserts copies of the objects into the
/// locked table and returns the answer.
template <class Put>
Term insert_objects(Process& p, const Term* a, const char* operation, BifFn self, Put put) {
  // Half a millisecond: ten thousand small objects are inserted in the turn, and with the priority,
  // of their process.
  constexpr SWord kInsertedHere = usual_or_small<SWord>(150'000, 200);
  if (came_back(p)) return run_on_dirty(p, self, a, 2);
  Word keypos;
  ReductionBudget steps(kInsertedHere);
  if (!look_at_keypos(a[0], &keypos)) return raise_badarg(p);
  if (!are_objects(a[1], keypos, steps))
    return steps.used_up() ? run_on_dirty(p, self, a, 2) : raise_badarg(p);
  Released released;
  Copies copies;
  if (!copies.add_all(p, a[1], steps)) return run_on_dirty(p, self, a, 2);
  {
    const Locked t = locked_for(p, a[0], a[1], keypos);
    if (!t) return raise_badarg(p);
    if (t.store().keypos() == keypos) {
      const bool done = put(t.store(), copies, released);
      note_write(p, *t, operation, done ? a[1] : Term::nil());
      return bool_term(done);
    }
  }
  return self(p, a);  // another table has got the name meanwhile
}

/// Inserts a list of objects. The whole table is locked, and grows with them, so that no chain gets
/// long.
bool put_all(Store& store, Copies& copies, Released& released) {
  constexpr Word kTogether = 64;
  Word count = 0;
  copies.take_each([&](Object* o) {
    store.insert(o, released);
    if (++count % kTogether == 0) store.balance(2 * kTogether);
  });
  if (count > 1) store.balance(2 * kTogether);
  return true;
}
bool put_all_new(Store& store, Copies& copies, Released& released) {
  return copies.all_of([&](const Object* o) { return !store.find(store.key_of(o)); }) &&
         put_all(store, copies, released);
}

}  // namespace

Term bif_ets_insert_2(Process& p, const Term* a) {
  return insert_objects(p, a, "insert", bif_ets_insert_2, put_all);
}
Term bif_ets_insert_new_2(Process& p, const Term* a) {
  return insert_objects(p, a, "insert_new", bif_ets_insert_new_2, put_all_new);
}

Term bif_ets_lookup_2(Process& p, const Term* a) {
  if (came_back(p)) return run_on_dirty(p, bif_ets_lookup_2, a, 2);
  Locked t(p, a[0], Access::kRead, a[1]);
  if (!t) return raise_badarg(p);
  charge(p, 8);
  Object* newest = t.store().find(a[1]);
  if (too_long(group_words(t.store(), newest))) return run_on_dirty(p, bif_ets_lookup_2, a, 2);
  note_lookup(p, *t, "lookup", newest);
  return group_list(p, t.store(), newest);
}

Term bif_ets_lookup_element_3(Process& p, const Term* a) {
  return lookup_element(p, a, 3, bif_ets_lookup_element_3);
}
Term bif_ets_lookup_element_4(Process& p, const Term* a) {
  return lookup_element(p, a, 4, bif_ets_lookup_element_4);
}

Term lookup_element_cause(Process& p, unsigned arity, const Term* a) {
  SWord place;
  const Locked t(p, a[0], Access::kRead, a[1]);
  if (!t) return table_cause(p, arity, a);
  const bool asks_well = small_in_range(a[2], 1, Term::kSmallMax, &place);
  return asks_well && !t.store().find(a[1]) ? atoms::badkey : kNonValue;
}

Term bif_ets_member_2(Process& p, const Term* a) {
  Locked t(p, a[0], Access::kRead, a[1]);
  if (!t) return raise_badarg(p);
  const bool found = t.store().find(a[1]) != nullptr;
  note_lookup(p, *t, "member", found, found);
  return bool_term(found);
}

Term bif_ets_take_2(Process& p, const Term* a) {
  if (came_back(p)) return run_on_dirty(p, bif_ets_take_2, a, 2);
  Released released;
  Locked t(p, a[0], Access::kWrite, a[1]);
  if (!t) return raise_badarg(p);
  Object* newest = t.store().find(a[1]);
  if (too_long(group_words(t.store(), newest))) return run_on_dirty(p, bif_ets_take_2, a, 2);
  const Term list = group_list(p, t.store(), newest);
  note_write(p, *t, "take", erase_group(t.store(), newest, released));
  return list;
}

Term bif_ets_delete_2(Process& p, const Term* a) {
  if (came_back(p)) return run_on_dirty(p, bif_ets_delete_2, a, 2);
  Released released;
  Locked t(p, a[0], Access::kWrite, a[1]);
  if (!t) return raise_badarg(p);
  Object* newest = t.store().find(a[1]);
  if (is_bag(t.store().kind()) && too_long(group_words(t.store(), newest)))
    return run_on_dirty(p, bif_ets_delete_2, a, 2);
  note_write(p, *t, "delete", erase_group(t.store(), newest, released));
  return atoms::true_;
}

Term bif_ets_delete_object_2(Process& p, const Term* a) {
  if (came_back(p)) return run_on_dirty(p, bif_ets_delete_object_2, a, 2);
  Released released;
  Locked t(p, a[0], Access::kWrite);
  if (!t || !is_object(a[1], t.store().keypos())) return raise_badarg(p);
  Object* o = t.store().find(a[1].element(t.store().keypos() - 1));
  if (too_long(group_words(t.store(), o))) return run_on_dirty(p, bif_ets_delete_object_2, a, 2);
  const Word before = t.store().count();
  while (o) {
    Object* older = t.store().next_same(o);
    if (equal_exact(o->tuple, a[1])) t.store().erase(o, released);
    o = older;
  }
  note_write(p, *t, "delete_object", before - t.store().count());
  return atoms::true_;
}

namespace {

/// Returns the number of objects, or the non-value when it cannot be done.
Term delete_all(Process& p, const Term* a) {
  if (came_back(p)) return run_on_dirty(p, delete_all, a, 1);
  Released released;
  std::unique_ptr<Store> dropped;
  Locked t(p, a[0], Access::kWrite);
  if (!t) return raise_badarg(p);
  if (too_long(t.store().count())) return run_on_dirty(p, delete_all, a, 1);
  const Word count = t.store().count();
  charge(p, static_cast<SWord>(count));
  if (t->fixers.empty()) {
    dropped = std::move(t->store);
    t->store = dropped->kind() == Kind::kOrderedSet
                   ? make_tree_store(dropped->keypos())
                   : make_hash_store(dropped->kind(), dropped->keypos(), dropped->striped());
  } else {
    std::vector<Object*> all;
    Position at;
    t.store().walk(at, false, [&](Object* o) { return all.push_back(o), true; });
    for (Object* o : all) t.store().erase(o, released);
  }
  note_write(p, *t, "delete_all_objects", count);
  return Term::small(static_cast<SWord>(count));
}

}  // namespace

Term bif_ets_delete_all_objects_1(Process& p, const Term* a) {
  return delete_all(p, a) ? atoms::true_ : kNonValue;
}
/// (Table, undefined): returns the number of objects.
Term bif_ets_internal_delete_all_2(Process& p, const Term* a) { return delete_all(p, a); }

Term bif_ets_first_1(Process& p, const Term* a) {
  return first_of_all(p, {"first", a, 1, bif_ets_first_1, false});
}
Term bif_ets_last_1(Process& p, const Term* a) {
  return last_of_all(p, {"last", a, 1, bif_ets_last_1, false});
}
Term bif_ets_next_2(Process& p, const Term* a) {
  return step_forward(p, {"next", a, 2, bif_ets_next_2, false});
}
Term bif_ets_prev_2(Process& p, const Term* a) { return step_back(p, {"prev", a, 2, bif_ets_prev_2, false}); }
Term bif_ets_first_lookup_1(Process& p, const Term* a) {
  return first_of_all(p, {"first_lookup", a, 1, bif_ets_first_lookup_1, true});
}
Term bif_ets_last_lookup_1(Process& p, const Term* a) {
  return last_of_all(p, {"last_lookup", a, 1, bif_ets_last_lookup_1, true});
}
Term bif_ets_next_lookup_2(Process& p, const Term* a) {
  return step_forward(p, {"next_lookup", a, 2, bif_ets_next_lookup_2, true});
}
Term bif_ets_prev_lookup_2(Process& p, const Term* a) {
  return step_back(p, {"prev_lookup", a, 2, bif_ets_prev_lookup_2, true});
}

/// Calls visit(object) with the newest object of each key in a bucket.
template <class Visit>
void for_each_key(const Store& store, std::size_t bucket, Visit&& visit) {
  bool exists = true;
  std::size_t next_bucket;
  for (Object* o = store.first_of_bucket(bucket); o;
       o = store.next_in_bucket(store.key_of(o), &exists, &next_bucket))
    visit(o);
}

/// (Table, I): returns the objects of bucket I; in an ordered set those of the I-th key. Behind the
/// last one returns the table's end.
Term bif_ets_slot_2(Process& p, const Term* a) {
  SWord place;
  if (!small_in_range(a[1], 0, Term::kSmallMax, &place)) return raise_badarg(p);
  if (came_back(p)) return run_on_dirty(p, bif_ets_slot_2, a, 2);
  const Locked t(p, a[0], Access::kRead);
  if (!t) return raise_badarg(p);
  const Store& store = t.store();
  charge(p, 8);
  if (store.kind() != Kind::kOrderedSet) {
    const std::size_t bucket = static_cast<std::size_t>(place), end = store.bucket_count();
    if (bucket > end) return raise_badarg(p);
    Word words = 0;
    if (bucket < end) for_each_key(store, bucket, [&](Object* o) { words += group_words(store, o); });
    if (too_long(words)) return run_on_dirty(p, bif_ets_slot_2, a, 2);
    Term list = Term::nil();
    if (bucket < end) for_each_key(store, bucket, [&](Object* o) { list = group_list(p, store, o, list); });
    const auto found = static_cast<Word>(list_length(list));
    note_lookup(p, *t, "slot", found, found);
    return bucket < end ? list : atoms::end_of_table;
  }
  const auto number = static_cast<Word>(place);
  if (number > store.count()) return raise_badarg(p);
  if (too_long(4 * store.steps_to(number))) return run_on_dirty(p, bif_ets_slot_2, a, 2);
  Object* o = store.nth(number);
  note_lookup(p, *t, "slot", o);
  return o ? group_list(p, store, o) : atoms::end_of_table;
}

namespace {

/// Returns the first value that fault(operation) gives for one operation or a list of them.
template <class Fault>
Term first_fault(Term operations, Fault fault) {
  if (!operations.is_cons_or_nil()) return fault(operations);
  for (; operations.is_list(); operations = operations.tail())
    if (const Term why = fault(operations.head())) return why;
  return kNonValue;
}

/// Returns what is said of a default object that is refused.
Term default_cause() {
  static const Term default_object = intern_atom("default");
  return release_has(Trait::kDefaultObjectsChecked) ? default_object : kNonValue;
}

}  // namespace

/// Returns why an update failed: because of the table, the key, or the position of an element.
Term update_counter_cause(Process& p, unsigned arity, const Term* a) {
  static const Term keypos = intern_atom("keypos"), position = intern_atom("position"),
                    table_type = intern_atom("table_type");
  const Locked t(p, a[0], Access::kWrite, a[1]);
  if (!t) return written_table_cause(p, arity, a);
  if (is_bag(t.store().kind())) return table_type;
  const Word key = t.store().keypos();
  if (arity == 4 && !is_default(a[3], key)) return default_cause();
  const Object* o = t.store().find(a[1]);
  if (!o && arity == 3) return atoms::badkey;
  const Term tuple = o ? o->tuple : a[3];
  bool looks_further = true;  // until something is not an operation, or an element not a number
  return first_fault(a[2], [&](Term operation) {
    CounterStep s;
    looks_further &= operation.is_tuple() || !a[2].is_cons_or_nil();
    looks_further = looks_further && read_step(operation, key, &s);
    if (!looks_further) return kNonValue;
    if (!s.fits(key, tuple.tuple_arity())) return s.position == static_cast<SWord>(key) ? keypos : position;
    looks_further = tuple.element(static_cast<Word>(s.position) - 1).is_integer();
    return kNonValue;
  });
}
Term update_element_cause(Process& p, unsigned arity, const Term* a) {
  static const Term keypos = intern_atom("keypos"), position = intern_atom("position");
  const Locked t(p, a[0], Access::kWrite, a[1]);
  if (!t) return written_table_cause(p, arity, a);
  if (is_bag(t.store().kind())) return kNonValue;
  const Word key = t.store().keypos();
  if (arity == 4 && !is_default(a[3], key)) return default_cause();
  const Object* o = t.store().find(a[1]);
  const Term tuple = o ? o->tuple : a[3];
  bool looks_further = true;  // until something is not a change
  return first_fault(a[2], [&](Term change) {
    looks_further &= change.is_tuple() && change.tuple_arity() == 2 && change.element(0).is_small();
    if (!looks_further) return kNonValue;
    const SWord place = change.element(0).small_value();
    if (place == static_cast<SWord>(key)) return keypos;
    const bool is_there = place >= 1 && place <= static_cast<SWord>(tuple.tuple_arity());
    if (is_there) return kNonValue;
    if (release_has(Trait::kUpdatePositions)) return position;
    looks_further = false;
    return kNonValue;
  });
}

Term bif_ets_update_element_3(Process& p, const Term* a) {
  return update_element(p, a[0], a[1], a[2], kNonValue);
}
Term bif_ets_update_element_4(Process& p, const Term* a) { return update_element(p, a[0], a[1], a[2], a[3]); }
Term bif_ets_update_counter_3(Process& p, const Term* a) {
  return update_counter(p, a[0], a[1], a[2], kNonValue);
}
Term bif_ets_update_counter_4(Process& p, const Term* a) { return update_counter(p, a[0], a[1], a[2], a[3]); }

}  // namespace vmrun
