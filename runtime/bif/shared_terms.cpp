#include <algorithm>
#include <unordered_map>
#include <vector>

#include "runtime/bif/support.hpp"
#include "runtime/bif/weight.hpp"
#include "vm/base/work_stack.hpp"
#include "vm/heap/literal.hpp"
#include "vm/heap/off_heap.hpp"

/// Terms with what they share: an object that is met twice counts once, and is copied once.
/// Literals count only when they are to be copied. A copy of a binary that grows does not grow.
namespace vmrun {
namespace {

using Sub = Term::Sub;

/// The terms that an object holds. Cells have no header: two.
struct Fields {
  Term *begin, *end;
};
Fields fields_of(Term* object, bool is_cell) {
  if (is_cell) return {object, object + 2};
  Term* const end = object + object_words(*object);
  switch (object->header_sub()) {
    case Sub::kTuple: return {object + 1, end};
    case Sub::kMap: return {object + (map_kind(*object) == MapKind::kHashNode ? 1 : 2), end};
    case Sub::kFun: {
      auto* f = reinterpret_cast<FunObject*>(object);
      return {&f->creator, end};  // and a word that is no pointer, and the environment
    }
    case Sub::kSubBinary: {
      auto* s = reinterpret_cast<SubBinary*>(object);
      return {&s->original, &s->original + 1};
    }
    default: return {nullptr, nullptr};
  }
}

/// The objects that a term leads to, each once, in an order that does not matter.
class Objects {
 public:
  struct Entry {
    Term* object;
    bool is_cell;
    Term* copy = nullptr;
    Word words() const { return is_cell ? 2 : object_words(*object); }
  };

  explicit Objects(bool with_literals) : with_literals_(with_literals) {}

  /// False: there are too many for the calling thread.
  [[nodiscard]] bool find(Term t) {
    meet(t);
    while (!work_.empty()) {
      const std::size_t at = work_.pop();
      const Entry entry = entries_[at];
      words_ += entry.words();
      if (too_long(words_)) return false;
      const auto [begin, end] = fields_of(entry.object, entry.is_cell);
      for (const Term* field = begin; field < end; ++field) meet(*field);
    }
    return true;
  }
  Word words() const { return words_; }

  /// A copy of t, which has been found.
  Term copy(Term t, Heap& heap) {
    for (Entry& e : entries_) e.copy = copy_of(e, heap);
    for (const Entry& e : entries_) {
      const auto [begin, end] = fields_of(e.copy, e.is_cell);
      for (Term* field = begin; field < end; ++field) *field = in_copy(*field);
    }
    return in_copy(t);
  }

 private:
  void meet(Term t) {
    if (!(t.is_list() || t.is_boxed()) || (!with_literals_ && is_literal(t.ptr()))) return;
    const auto [place, is_new] = numbers_.try_emplace(t.ptr(), entries_.size());
    if (!is_new) return;
    entries_.push_back({const_cast<Term*>(t.ptr()), t.is_list()});
    work_.push(place->second);
  }

  static Term* copy_of(const Entry& e, Heap& heap) {
    const Word words = e.words();
    Term* copy = heap.alloc(words);
    std::copy_n(e.object, words, copy);
    if (e.is_cell) return copy;
    switch (copy->header_sub()) {
      case Sub::kRefcBinary: reinterpret_cast<RefcBinary*>(copy)->flags = 0; [[fallthrough]];
      case Sub::kMagicRef:
      case Sub::kExternalPid:
      case Sub::kExternalPort:
      case Sub::kExternalRef: {
        auto* outside = reinterpret_cast<OffHeapObject*>(copy);
        retain_off_heap(outside);
        heap.link_off_heap(outside, off_heap_overhead(outside));
        break;
      }
      case Sub::kSubBinary: reinterpret_cast<SubBinary*>(copy)->is_writable = 0; break;
      default: break;
    }
    return copy;
  }

  Term in_copy(Term t) const {
    if (!(t.is_list() || t.is_boxed())) return t;
    const auto found = numbers_.find(t.ptr());
    if (found == numbers_.end()) return t;  // a literal
    Term* copy = entries_[found->second].copy;
    return t.is_list() ? Term::list(copy) : Term::boxed(copy);
  }

  const bool with_literals_;
  std::unordered_map<const Term*, std::size_t> numbers_;
  std::vector<Entry> entries_;
  WorkStack<std::size_t> work_;
  Word words_ = 0;
};

}  // namespace

Term bif_erts_debug_size_shared_1(Process& p, const Term* a) {
  if (came_back(p)) return run_elsewhere(p, bif_erts_debug_size_shared_1, a, 1);
  Objects objects(false);
  if (!objects.find(a[0])) return run_elsewhere(p, bif_erts_debug_size_shared_1, a, 1);
  return Term::small(static_cast<SWord>(objects.words()));
}

/// (Term, Whether literals are copied too).
Term bif_erts_debug_copy_shared_2(Process& p, const Term* a) {
  if (a[1] != atoms::true_ && a[1] != atoms::false_) return raise_badarg(p);
  if (came_back(p)) return run_elsewhere(p, bif_erts_debug_copy_shared_2, a, 2);
  Objects objects(a[1] == atoms::true_);
  if (!objects.find(a[0])) return run_elsewhere(p, bif_erts_debug_copy_shared_2, a, 2);
  return objects.copy(a[0], p.heap);
}

}  // namespace vmrun
