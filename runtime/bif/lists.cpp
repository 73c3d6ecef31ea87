// SPDX-License-Identifier: Apache-2.0
#include <sys/resource.h>
#include <sys/sysinfo.h>

#include <algorithm>
#include <vector>

#include "runtime/bif/reduction_budget.hpp"
#include "runtime/bif/support.hpp"
#include "vm/base/small_limits.hpp"
#include "vm/process/fiber.hpp"
#include "vm/term/compare.hpp"
#include "vm/term/hash.hpp"

/// Lists: ++, --, and the searches of module lists. Behind the first kCellsAtOnce elements ++ and
/// reverse continue on a fiber; other long calls start over on a dirty scheduler
/// (reduction_budget.hpp).
namespace vmrun {
namespace {

/// Returns the first tuple in the list whose element `at` (zero-based) == key. Returns the
/// non-value if there is none, with *proper telling whether the list is proper, or if the steps are
/// used up.
Term find_tuple(Process& p, Term key, Word at, Term list, bool* proper, ReductionBudget& steps) {
  const bool by_word = key.is_atom() || key.is_nil();  // other terms do not equal these
  for (; list.is_list(); list = list.tail()) {
    if (!steps.spend(1)) [[unlikely]]
      return kNonValue;
    const Term t = list.head();
    if (!t.is_tuple() || t.tuple_arity() <= at) continue;
    const Term e = t.element(at);
    if (e == key || (!by_word && equal(e, key))) {
      charge(p, steps.spent());
      return t;
    }
  }
  charge(p, steps.spent());
  *proper = list.is_nil();
  return kNonValue;
}

/// keyfind and its relatives: returns what `answer` makes of the tuple, or of the non-value. Raises
/// badarg for a bad position or list.
template <class Answer>
Term search_tuple(Process& p, const Term* a, BifFn self, Answer answer) {
  bool proper = true;
  ReductionBudget steps;
  SWord position;
  if (!small_in_range(a[1], 1, Term::kSmallMax, &position)) return raise_badarg(p);
  const Term found = find_tuple(p, a[0], static_cast<Word>(position - 1), a[2], &proper, steps);
  if (steps.used_up()) return run_on_dirty(p, self, a, 3);
  return proper ? answer(found) : raise_badarg(p);
}

/// Returns `left` without the first occurrence of each element of `remove`, which has few elements.
Term subtract_few(Heap& heap, Term left, std::vector<Term>& remove) {
  ListBuilder result(heap);
  for (; left.is_list() && !remove.empty(); left = left.tail()) {
    const Term h = left.head();
    const auto it = std::find_if(remove.begin(), remove.end(), [h](Term r) { return equal_exact(r, h); });
    if (it == remove.end()) {
      result.add(h);
    } else {
      *it = remove.back();
      remove.pop_back();
    }
  }
  return result.finish(left);  // the rest is shared
}

constexpr SWord kCellsAtOnce = usual_or_small<SWord>(16000, 10);

/// Moves up to `most` elements from the front of state[0] to the front of state[1]; returns how
/// many.
SWord reverse_some(Heap& heap, Term* state, SWord most) {
  SWord n = 0;
  for (; state[0].is_list() && n < most; ++n) {
    Term* hp = heap.alloc(2);
    state[1] = make_cons(hp, state[0].head(), state[1]);
    state[0] = state[0].tail();
  }
  return n;
}

/// Repeats reverse_some to the end, and lets other processes run in between. The caller roots the
/// terms.
void reverse_all(Process& p, Term* state) {
  while (state[0].is_list()) fiber_charge(p, reverse_some(p.heap, state, kCellsAtOnce) / 8);
}

// Bodies that run on a fiber. Terms that are used after a yield are named as roots.

Term reverse_long(Process& p, const Term* a) {
  Term state[] = {a[0], a[1]};
  const FiberRoots roots(p, state, 2);
  reverse_all(p, state);
  return state[0].is_nil() ? state[1] : raise_badarg(p);
}

/// Reverses twice, because a list cannot be built front to back across collections.
Term append_long(Process& p, const Term* a) {
  Term state[] = {a[0], Term::nil()};
  const FiberRoots roots(p, state, 2);
  reverse_all(p, state);
  if (!state[0].is_nil()) return raise_badarg(p);
  state[0] = state[1];
  state[1] = a[1];
  reverse_all(p, state);
  return state[1];
}

/// Counts of elements, found by hash.
class ElementCounts {
 public:
  void add(Term t) {
    if (elements_.size() * 2 >= slots_.size()) grow();
    std::size_t slot = find(t);
    if (!slots_[slot]) {
      elements_.push_back(t);
      counts_.push_back(0);
      slots_[slot] = static_cast<std::uint32_t>(elements_.size());
    }
    ++counts_[slots_[slot] - 1];
  }
  bool take(Term t) {
    if (elements_.empty()) return false;
    const std::uint32_t at = slots_[find(t)];
    return at && counts_[at - 1] && counts_[at - 1]-- > 0;
  }

 private:
  std::size_t find(Term t) const {
    std::size_t slot = hash_term(t) & (slots_.size() - 1);
    while (slots_[slot] && !equal_exact(elements_[slots_[slot] - 1], t))
      slot = (slot + 1) & (slots_.size() - 1);
    return slot;
  }
  void grow() {
    slots_.assign(std::max<std::size_t>(64, slots_.size() * 2), 0);
    for (std::size_t i = 0; i < elements_.size(); ++i)
      slots_[find(elements_[i])] = static_cast<std::uint32_t>(i + 1);
  }

  std::vector<Term> elements_;
  std::vector<Word> counts_;
  std::vector<std::uint32_t> slots_;  // index into elements_ + 1; 0: free
};

/// Does the work of subtract_few by counting elements.
Term subtract_many(Heap& heap, Term left, const std::vector<Term>& remove) {
  ElementCounts counts;
  for (const Term t : remove) counts.add(t);
  std::size_t to_remove = remove.size();
  ListBuilder result(heap);
  for (; left.is_list() && to_remove; left = left.tail()) {
    if (counts.take(left.head())) --to_remove;
    else result.add(left.head());
  }
  return result.finish(left);
}

}  // namespace

Term bif_lists_reverse_2(Process& p, const Term* a) {
  if (p.fiber) return run_on_fiber(p, reverse_long, a, 2);
  Term state[] = {a[0], a[1]};
  const SWord n = reverse_some(p.heap, state, kCellsAtOnce);
  charge(p, n);
  if (n == kCellsAtOnce) return run_on_fiber(p, reverse_long, state, 2);
  return state[0].is_nil() ? state[1] : raise_badarg(p);
}

Term bif_erlang_append_2(Process& p, const Term* a) {
  if (p.fiber) return run_on_fiber(p, append_long, a, 2);
  SWord n = 0;
  Term l = a[0];
  for (; l.is_list() && n < kCellsAtOnce; l = l.tail()) ++n;
  if (l.is_list()) return run_on_fiber(p, append_long, a, 2);
  if (!l.is_nil()) return raise_badarg(p);
  if (n == 0) return a[1];
  charge(p, n);
  Term* cells = p.heap.alloc(2 * static_cast<Word>(n));
  Term* c = cells;
  for (l = a[0]; l.is_list(); l = l.tail(), c += 2) {
    c[0] = l.head();
    c[1] = Term::list(c + 2);
  }
  c[-1] = a[1];
  return Term::list(cells);
}

Term bif_erlang_subtract_2(Process& p, const Term* a) {
  constexpr std::size_t kFew = 8;
  SWord left, right;
  if (!length_here(a[0], &left) || !length_here(a[1], &right))
    return run_on_dirty(p, bif_erlang_subtract_2, a, 2);
  if (left < 0 || right < 0) return raise_badarg(p);
  charge(p, left + right);
  if (left == 0 || right == 0) return a[0];
  std::vector<Term> remove;
  remove.reserve(static_cast<std::size_t>(right));
  for (Term rest = a[1]; rest.is_list(); rest = rest.tail()) remove.push_back(rest.head());
  return remove.size() <= kFew ? subtract_few(p.heap, a[0], remove) : subtract_many(p.heap, a[0], remove);
}

Term bif_lists_member_2(Process& p, const Term* a) {
  ReductionBudget steps;
  Term list = a[1];
  for (; list.is_list(); list = list.tail()) {
    if (!steps.spend(1)) [[unlikely]]
      return run_on_dirty(p, bif_lists_member_2, a, 2);
    if (equal_exact(list.head(), a[0])) {
      charge(p, steps.spent());
      return atoms::true_;
    }
  }
  charge(p, steps.spent());
  return list.is_nil() ? atoms::false_ : raise_badarg(p);
}

Term bif_lists_keyfind_3(Process& p, const Term* a) {
  return search_tuple(p, a, bif_lists_keyfind_3, [](Term found) { return found ? found : atoms::false_; });
}

Term bif_lists_keymember_3(Process& p, const Term* a) {
  return search_tuple(p, a, bif_lists_keymember_3, [](Term found) { return bool_term(found.is_value()); });
}

Term bif_lists_keysearch_3(Process& p, const Term* a) {
  return search_tuple(p, a, bif_lists_keysearch_3, [&p](Term found) {
    return found ? new_tuple(p.heap, intern_atom("value"), found) : atoms::false_;
  });
}

/// erts_internal:list_fits(N): whether the machine has memory for a list of N elements, if it were
/// used for nothing else.
Term bif_erts_internal_list_fits_1(Process& p, const Term* a) {
  if (!a[0].is_integer()) return raise_badarg(p);
  if (!a[0].is_small()) return atoms::false_;
  struct sysinfo machine;
  struct rlimit space;
  Word bytes = ~Word{0};
  if (sysinfo(&machine) == 0) bytes = (Word{machine.totalram} + machine.totalswap) * machine.mem_unit;
  if (getrlimit(RLIMIT_AS, &space) == 0) bytes = std::min<Word>(bytes, space.rlim_cur);
  return bool_term(a[0].small_value() <= static_cast<SWord>(bytes / (2 * sizeof(Term))));
}

}  // namespace vmrun
