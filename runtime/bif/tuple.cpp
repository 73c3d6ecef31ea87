// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "runtime/bif/reduction_budget.hpp"
#include "runtime/bif/support.hpp"

/// Tuples.
namespace vmrun {
namespace {

/// Makes a tuple of n elements, which the caller fills in.
Term new_tuple_of(Heap& heap, Word n, Term** elements) {
  if (n == 0) {
    *elements = nullptr;
    return empty_tuple();
  }
  Term* o = heap.alloc(n + 1);
  o[0] = Term::header(Term::Sub::kTuple, n);
  *elements = o + 1;
  return Term::boxed(o);
}

bool long_tuple(Term t) { return t.is_tuple() && too_long(t.tuple_arity()); }

/// One-based position of an element.
bool position(Term index, Word arity, Word* at) {
  SWord i;
  if (!small_in_range(index, 1, static_cast<SWord>(arity), &i)) return false;
  *at = static_cast<Word>(i - 1);
  return true;
}

Term with_inserted(Process& p, Term tuple, Word at, Term value) {
  const Word n = tuple.tuple_arity();
  if (n >= kMaxTupleElements) return raise_badarg(p);
  Term* e;
  const Term result = new_tuple_of(p.heap, n + 1, &e);
  std::copy_n(tuple.tuple_elements(), at, e);
  e[at] = value;
  std::copy_n(tuple.tuple_elements() + at, n - at, e + at + 1);
  return result;
}

}  // namespace

Term bif_erlang_element_2(Process& p, const Term* a) {
  Word at;
  if (!a[1].is_tuple() || !position(a[0], a[1].tuple_arity(), &at)) return raise_badarg(p);
  return a[1].element(at);
}

Term bif_erlang_setelement_3(Process& p, const Term* a) {
  if (long_tuple(a[1])) return run_on_dirty(p, bif_erlang_setelement_3, a, 3);
  Word at;
  if (!a[1].is_tuple() || !position(a[0], a[1].tuple_arity(), &at)) return raise_badarg(p);
  Term* e;
  const Term result = new_tuple_of(p.heap, a[1].tuple_arity(), &e);
  std::copy_n(a[1].tuple_elements(), a[1].tuple_arity(), e);
  e[at] = a[2];
  return result;
}

Term bif_erlang_tuple_to_list_1(Process& p, const Term* a) {
  if (long_tuple(a[0])) return run_on_dirty(p, bif_erlang_tuple_to_list_1, a, 1);
  if (!a[0].is_tuple()) return raise_badarg(p);
  const Word n = a[0].tuple_arity();
  Term* hp = p.heap.alloc(2 * n);
  Term list = Term::nil();
  for (Word i = n; i-- > 0;) list = make_cons(hp, a[0].element(i), list);
  return list;
}

Term bif_erlang_list_to_tuple_1(Process& p, const Term* a) {
  SWord n;
  if (!length_here(a[0], &n)) return run_on_dirty(p, bif_erlang_list_to_tuple_1, a, 1);
  if (n < 0) return raise_badarg(p);
  if (static_cast<Word>(n) > kMaxTupleElements) return raise_badarg(p);
  charge(p, n);
  Term* e;
  const Term result = new_tuple_of(p.heap, static_cast<Word>(n), &e);
  for (Term l = a[0]; l.is_list(); l = l.tail()) *e++ = l.head();
  return result;
}

Term bif_erlang_append_element_2(Process& p, const Term* a) {
  if (long_tuple(a[0])) return run_on_dirty(p, bif_erlang_append_element_2, a, 2);
  return a[0].is_tuple() ? with_inserted(p, a[0], a[0].tuple_arity(), a[1]) : raise_badarg(p);
}

Term bif_erlang_insert_element_3(Process& p, const Term* a) {
  if (long_tuple(a[1])) return run_on_dirty(p, bif_erlang_insert_element_3, a, 3);
  Word at;
  if (!a[1].is_tuple() || !position(a[0], a[1].tuple_arity() + 1, &at)) return raise_badarg(p);
  return with_inserted(p, a[1], at, a[2]);
}

Term bif_erlang_delete_element_2(Process& p, const Term* a) {
  if (long_tuple(a[1])) return run_on_dirty(p, bif_erlang_delete_element_2, a, 2);
  Word at;
  if (!a[1].is_tuple() || !position(a[0], a[1].tuple_arity(), &at)) return raise_badarg(p);
  const Word n = a[1].tuple_arity() - 1;
  Term* e;
  const Term result = new_tuple_of(p.heap, n, &e);
  std::copy_n(a[1].tuple_elements(), at, e);
  std::copy_n(a[1].tuple_elements() + at + 1, n - at, e + at);
  return result;
}

namespace {

Term filled(Heap& heap, SWord n, Term value) {
  Term* e;
  const Term result = new_tuple_of(heap, static_cast<Word>(n), &e);
  std::fill_n(e, n, value);
  return result;
}

}  // namespace

Term bif_erlang_make_tuple_2(Process& p, const Term* a) {
  SWord n;
  if (!small_in_range(a[0], 0, kMaxTupleElements, &n)) return raise_badarg(p);
  if (too_long(static_cast<Word>(n))) return run_on_dirty(p, bif_erlang_make_tuple_2, a, 2);
  return filled(p.heap, n, a[1]);
}

Term bif_erlang_make_tuple_3(Process& p, const Term* a) {
  SWord n;
  if (!small_in_range(a[0], 0, kMaxTupleElements, &n)) return raise_badarg(p);
  if (too_long(static_cast<Word>(n))) return run_on_dirty(p, bif_erlang_make_tuple_3, a, 3);
  const Term result = filled(p.heap, n, a[1]);
  ReductionBudget steps;
  Term list = a[2];
  for (; list.is_list(); list = list.tail()) {
    const Term pair = list.head();
    Word at;
    if (!pair.is_tuple() || pair.tuple_arity() != 2 || !position(pair.element(0), result.tuple_arity(), &at))
      return raise_badarg(p);
    result.tuple_elements()[at] = pair.element(1);
    if (!steps.spend(1)) return run_on_dirty(p, bif_erlang_make_tuple_3, a, 3);
  }
  return list.is_nil() ? result : raise_badarg(p);
}

}  // namespace vmrun
