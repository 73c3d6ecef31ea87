#include <algorithm>
#include <unordered_map>
#include <vector>

#include "runtime/bif/support.hpp"
#include "vm/term/compare.hpp"
#include "vm/term/hash.hpp"

/// Lists: ++, --, and the searches of module lists.
namespace vmrun {
namespace {

/// First tuple in the list whose element `at` (zero-based) == key; the non-value if none, *proper tells whether the list ended well.
Term find_tuple(Process& p, Term key, Word at, Term list, bool* proper) {
  SWord steps = 0;
  const bool by_word = key.is_atom() || key.is_nil();  // nothing else equals these
  for (; list.is_list(); list = list.tail(), ++steps) {
    const Term t = list.head();
    if (!t.is_tuple() || t.tuple_arity() <= at) continue;
    const Term e = t.element(at);
    if (e == key || (!by_word && equal(e, key))) {
      charge(p, steps);
      return t;
    }
  }
  charge(p, steps);
  *proper = list.is_nil();
  return kNonValue;
}

/// keyfind and its relatives: position, list; badarg for what is neither.
bool search_tuple(Process& p, const Term* a, Term* found) {
  bool proper = true;
  SWord position;
  if (!small_in_range(a[1], 1, Term::kSmallMax, &position)) return false;
  *found = find_tuple(p, a[0], static_cast<Word>(position - 1), a[2], &proper);
  return proper;
}

struct HashTerm {
  std::size_t operator()(Term t) const { return hash_term(t); }
};
struct EqualTerms {
  bool operator()(Term a, Term b) const { return equal_exact(a, b); }
};

/// Left without the first occurrence of each element of right; few elements to remove.
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

/// The same with a count of each element to remove.
Term subtract_many(Heap& heap, Term left, const std::vector<Term>& remove) {
  std::unordered_map<Term, Word, HashTerm, EqualTerms> counts;
  counts.reserve(remove.size());
  for (const Term t : remove) ++counts[t];
  Word left_to_remove = remove.size();
  ListBuilder result(heap);
  for (; left.is_list() && left_to_remove; left = left.tail()) {
    const auto it = counts.find(left.head());
    if (it == counts.end() || it->second == 0) {
      result.add(left.head());
    } else {
      --it->second;
      --left_to_remove;
    }
  }
  return result.finish(left);
}

}  // namespace

Term bif_lists_reverse_2(Process& p, const Term* a) {
  Term result = a[1], list = a[0];
  SWord n = 0;
  for (; list.is_list(); list = list.tail(), ++n) {
    Term* hp = p.heap.alloc(2);
    result = make_cons(hp, list.head(), result);
  }
  charge(p, n);
  return list.is_nil() ? result : raise_badarg(p);
}

Term bif_erlang_append_2(Process& p, const Term* a) {
  const SWord n = list_length(a[0]);
  if (n < 0) return raise_badarg(p);
  if (n == 0) return a[1];
  charge(p, n);
  Term* cells = p.heap.alloc(2 * static_cast<Word>(n));
  Term* c = cells;
  for (Term l = a[0]; l.is_list(); l = l.tail(), c += 2) {
    c[0] = l.head();
    c[1] = Term::list(c + 2);
  }
  c[-1] = a[1];
  return Term::list(cells);
}

Term bif_erlang_subtract_2(Process& p, const Term* a) {
  constexpr std::size_t kFew = 8;
  const SWord n = list_length(a[0]);
  if (n < 0) return raise_badarg(p);
  std::vector<Term> remove;
  Term right = a[1];
  for (; right.is_list(); right = right.tail()) remove.push_back(right.head());
  if (!right.is_nil()) return raise_badarg(p);
  charge(p, n + static_cast<SWord>(remove.size()));
  if (remove.empty() || n == 0) return a[0];
  return remove.size() <= kFew ? subtract_few(p.heap, a[0], remove) : subtract_many(p.heap, a[0], remove);
}

Term bif_lists_member_2(Process& p, const Term* a) {
  SWord steps = 0;
  Term list = a[1];
  for (; list.is_list(); list = list.tail(), ++steps) {
    if (equal_exact(list.head(), a[0])) {
      charge(p, steps);
      return atoms::true_;
    }
  }
  charge(p, steps);
  return list.is_nil() ? atoms::false_ : raise_badarg(p);
}

Term bif_lists_keyfind_3(Process& p, const Term* a) {
  Term found;
  if (!search_tuple(p, a, &found)) return raise_badarg(p);
  return found ? found : atoms::false_;
}

Term bif_lists_keymember_3(Process& p, const Term* a) {
  Term found;
  if (!search_tuple(p, a, &found)) return raise_badarg(p);
  return bool_term(found.is_value());
}

Term bif_lists_keysearch_3(Process& p, const Term* a) {
  Term found;
  if (!search_tuple(p, a, &found)) return raise_badarg(p);
  return found ? new_tuple(p.heap, intern_atom("value"), found) : atoms::false_;
}

}  // namespace vmrun
