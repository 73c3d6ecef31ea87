// SPDX-License-Identifier: Apache-2.0
#include "vm/term/compare.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

#include "vm/base/release.hpp"
#include "vm/base/small_limits.hpp"
#include "vm/base/work_stack.hpp"
#include "vm/term/atom.hpp"
#include "vm/term/big.hpp"
#include "vm/term/bits.hpp"
#include "vm/term/fun.hpp"
#include "vm/term/layout.hpp"
#include "vm/term/long_compare.hpp"
#include "vm/term/native_record.hpp"
#include "vm/term/node.hpp"
#include "vm/term/term_upcalls.hpp"

namespace vmrun {

namespace {

using Sub = Term::Sub;

/// Counts what a comparison does. The comparisons of long_compare.hpp let others run now and then;
/// for the rest this class does nothing.
template <bool kPauses>
class Steps {
 public:
  void one() { several(1); }
  /// A step takes some nanoseconds: a list cell, an element, 64 bytes.
  void several([[maybe_unused]] SWord n) {
    if constexpr (kPauses) {
      if ((left_ -= n) < 0) [[unlikely]]
        pause();
    }
  }

 private:
  static constexpr SWord kBetweenPauses = usual_or_small<SWord>(20000, 20);
  [[gnu::cold, gnu::noinline]] void pause() {
    term_upcalls.let_others_run();
    left_ = kBetweenPauses;
  }
  SWord left_ = kBetweenPauses;
};

template <class T>
const T* object(Term t) {
  return reinterpret_cast<const T*>(t.boxed_ptr());
}

// ---- Leaves -------------------------------------------------------------------------------------

/// The place in the term order. Terms of equal rank compare by value.
enum Rank : int { kNumber, kAtom, kReference, kFun, kPort, kPid, kTuple, kRecord, kMap, kNil, kList, kBits };

int rank_of(Term t) {
  if (t.is_list()) return kList;
  if (t.is_immed()) {
    if (t.is_small()) return kNumber;
    if (t.is_atom()) return kAtom;
    if (t.is_nil()) return kNil;
    return t.is_local_pid() ? kPid : kPort;
  }
  switch (t.boxed_ptr()->header_sub()) {
    case Sub::kTuple: return kTuple;
    case Sub::kPosBig:
    case Sub::kNegBig:
    case Sub::kFloat: return kNumber;
    case Sub::kRef:
    case Sub::kMagicRef:
    case Sub::kExternalRef: return kReference;
    case Sub::kFun: return kFun;
    case Sub::kExternalPid: return kPid;
    case Sub::kExternalPort: return kPort;
    case Sub::kMap: return kMap;
    case Sub::kRecord: return kRecord;
    default: return kBits;
  }
}

template <class T>
int order(T a, T b) {
  return a < b ? -1 : a > b;
}

/// With `exact`, -0.0 is another number than 0.0, which it precedes.
int compare_floats(double a, double b, bool exact) {
  const int result = order(a, b);
  return result == 0 && exact && release_has(Trait::kSignedZero) ? std::signbit(b) - std::signbit(a) : result;
}

/// With `exact`, all integers come before all floats.
int compare_numbers(Term a, Term b, bool exact) {
  if (a.is_float()) {
    if (b.is_float()) return compare_floats(float_of(a)->value, float_of(b)->value, exact);
    return exact ? 1 : -compare_integer_to_double(b, float_of(a)->value);
  }
  if (b.is_float()) return exact ? -1 : compare_integer_to_double(a, float_of(b)->value);
  return compare_integers(a, b);
}

/// Returns the three significant numbers of a reference of this or another node.
const std::uint32_t* ref_numbers(Term t) {
  return t.is_local_ref() ? local_ref_numbers(t)
                          : reinterpret_cast<const std::uint32_t*>(object<ExternalObject>(t)->data);
}
/// Returns nullptr for this node.
const Node* node_of(Term t) {
  if (t.is_immed() || t.is_local_ref()) return nullptr;
  return object<ExternalObject>(t)->node;
}

/// Compares by name, then by creation. The order is the same on every node, because programs that
/// run on several nodes depend on it.
int compare_nodes(Term a, Term b) {
  const Node *x = node_of(a), *y = node_of(b);
  if (x == y) return 0;
  const Term name = x ? x->name : local_node_name(), other_name = y ? y->name : local_node_name();
  if (name != other_name) return compare_atoms(name, other_name);
  return order(x ? x->creation : local_node_creation(), y ? y->creation : local_node_creation());
}

int compare_refs(Term a, Term b) {
  if (int c = compare_nodes(a, b)) return c;
  const std::uint32_t* x = ref_numbers(a);
  const std::uint32_t* y = ref_numbers(b);
  for (int i = 2; i >= 0; --i) {
    if (x[i] != y[i]) return order(x[i], y[i]);
  }
  return 0;
}

Word number_of(Term t) { return t.is_immed() ? t.id_number() : object<ExternalObject>(t)->data[0]; }

/// Compares by serial and number, then by node.
int compare_pids(Term a, Term b) {
  if (int c = order(number_of(a), number_of(b))) return c;
  return compare_nodes(a, b);
}

int compare_ports(Term a, Term b) {
  if (int c = compare_nodes(a, b)) return c;
  return order(number_of(a), number_of(b));
}

/// Compares everything but the environments. Local funs come before external ones.
int compare_fun_heads(const FunObject* a, const FunObject* b) {
  if (a->is_external != b->is_external) return order(a->is_external, b->is_external);
  if (a->is_external) {
    const Export *x = a->exported, *y = b->exported;
    if (x == y) return 0;
    if (x->module != y->module) return compare_atoms(x->module, y->module);
    if (x->function != y->function) return compare_atoms(x->function, y->function);
    return order(x->arity, y->arity);
  }
  const FunEntry *x = a->entry, *y = b->entry;
  if (x != y) {
    if (x->module != y->module) return compare_atoms(x->module, y->module);
    if (int c = order(x->index, y->index)) return c;
    if (int c = order(x->old_uniq, y->old_uniq)) return c;
    if (int c = std::char_traits<char>::compare(reinterpret_cast<const char*>(x->uniq),
                                                reinterpret_cast<const char*>(y->uniq), 16))
      return c;
  }
  return order(a->free_count, b->free_count);
}

/// Compares the definitions of two native records: module, name, whether it is exported, the number
/// of fields, the fields.
int compare_definitions(Term a, Term b) {
  const RecordDefinition d = definition_of(a), e = definition_of(b);
  if (d.tuple() == e.tuple()) return 0;
  if (d.module() != e.module()) return compare_atoms(d.module(), e.module());
  if (d.name() != e.name()) return compare_atoms(d.name(), e.name());
  if (d.exported() != e.exported()) return d.exported() == atoms::true_ ? 1 : -1;
  if (int c = order(d.field_count(), e.field_count())) return c;
  for (Word i = 0; i < d.field_count(); ++i)
    if (d.field(i) != e.field(i)) return compare_atoms(d.field(i), e.field(i));
  return 0;
}

// ---- Maps ---------------------------------------------------------------------------------------

/// Collects the cells [Key|Value] of a large map, in the order of its keys.
void collect_cells(const Term* node, std::vector<const Term*>& cells) {
  const Term header = *node;
  const Term* end = node + object_words(header);
  for (const Term* p = node + (map_kind(header) == MapKind::kHashNode ? 1 : 2); p < end; ++p) {
    if (p->is_list()) {
      cells.push_back(p->list_ptr());
    } else {
      collect_cells(p->boxed_ptr(), cells);
    }
  }
}
template <bool kPauses>
std::vector<const Term*> sorted_cells(Term map, Steps<kPauses>& steps) {
  std::vector<const Term*> cells;
  collect_cells(map.boxed_ptr(), cells);
  std::sort(cells.begin(), cells.end(), [&](const Term* a, const Term* b) {
    steps.one();
    return compare_keys(a[0], b[0]) < 0;
  });
  return cells;
}

/// The places of a flat map's keys in the order of compare_keys.
struct KeyOrder {
  std::uint8_t places[kFlatMapMax];
};
KeyOrder key_order(const FlatMap* m) {
  KeyOrder result;
  std::iota(result.places, result.places + m->size, std::uint8_t{0});
  std::sort(result.places, result.places + m->size, [m](std::uint8_t i, std::uint8_t j) {
    return compare_keys(m->keys.element(i), m->keys.element(j)) < 0;
  });
  return result;
}

/// Enters the pairs of two flat maps of one size: all keys, then the values.
template <class Words>
void enter_flat_maps(const FlatMap* m, const FlatMap* n, bool exact, Words& words) {
  if (!release_has(Trait::kAtomNumberOrder)) {
    words.enter(m->values(), n->values(), m->size, exact);
    return words.enter(&m->keys, &n->keys, 1, true);
  }
  const KeyOrder x = key_order(m), y = key_order(n);
  for (Word i = m->size; i-- > 0;)
    words.enter(m->values() + x.places[i], n->values() + y.places[i], 1, exact);
  const Term *a = m->keys.tuple_elements(), *b = n->keys.tuple_elements();
  for (Word i = m->size; i-- > 0;) words.enter(a + x.places[i], b + y.places[i], 1, true);
}

// ---- Bit strings --------------------------------------------------------------------------------

constexpr Word kPiece = usual_or_small<Word>(8 << 17, 8 << 7);  // bits, compared at once

/// compare_bits, a piece at a time.
int compare_bits_in_pieces(const BitView& x, const BitView& y, Word n, Steps<true>& steps) {
  const SWord bytes_a_step = x.aligned() && y.aligned() ? 64 : 4;
  for (Word done = 0;;) {
    const Word now = std::min(n - done, kPiece);
    if (const int c = compare_bits(x.base, x.offset_bits + done, y.base, y.offset_bits + done, now)) return c;
    done += now;
    if (done == n) return 0;
    steps.several(static_cast<SWord>(now / 8) / bytes_a_step);
  }
}

int compare_bitstrings(Term a, Term b, Steps<false>&) { return compare_bitstrings(a, b); }
int compare_bitstrings(Term a, Term b, Steps<true>& steps) {
  const BitView x = bits_of(a), y = bits_of(b);
  const int c = compare_bits_in_pieces(x, y, std::min(x.size_bits, y.size_bits), steps);
  return c ? c : order(x.size_bits, y.size_bits);
}

bool equal_bits(const BitView& x, const BitView& y, Steps<false>&) {
  if (x.aligned() && y.aligned() && x.is_binary())
    return std::memcmp(x.bytes(), y.bytes(), x.size_bytes()) == 0;
  return compare_bits(x.base, x.offset_bits, y.base, y.offset_bits, x.size_bits) == 0;
}
bool equal_bits(const BitView& x, const BitView& y, Steps<true>& steps) {
  Steps<false> none;
  return x.size_bits <= kPiece ? equal_bits(x, y, none)
                               : compare_bits_in_pieces(x, y, x.size_bits, steps) == 0;
}

Word map_size_of(Term t) { return object<MapObject>(t)->size; }

template <bool kPauses>
bool equal_bitstrings(Term a, Term b, Steps<kPauses>& steps) {
  const BitView x = bits_of(a), y = bits_of(b);
  return x.size_bits == y.size_bits && equal_bits(x, y, steps);
}

// ---- Walks --------------------------------------------------------------------------------------

/// The words of two terms side by side, from the front. When an object is entered, its words come
/// before the remaining words of the object around it, which wait on a stack.
template <bool kPauses>
class SideBySide {
 public:
  SideBySide(const Term& a, const Term& b, bool exact) : now_{&a, &b, 1, exact} {}

  /// Returns the next two words that differ, and whether integers and floats always differ there.
  /// False: no words are left.
  bool next(Term* a, Term* b, bool* exact) {
    for (;;) {
      while (now_.n) {
        --now_.n;
        *a = *now_.x++;
        *b = *now_.y++;
        *exact = now_.exact;
        if (*a != *b) return true;
      }
      if (waiting_.empty()) return false;
      take(waiting_.pop());
    }
  }
  [[gnu::always_inline]] void enter(const Term* x, const Term* y, Word n, bool exact) {
    if (now_.n) waiting_.push(now_);
    take({x, y, n, exact});
  }
  Steps<kPauses>& steps() { return steps_; }

 private:
  struct Words {
    const Term *x, *y;
    Word n;
    bool exact;
  };

  /// A word that is compared costs less than a step.
  void take(Words words) {
    constexpr Word kWide = usual_or_small<Word>(4096, 16);
    if (kPauses && words.n > kWide) [[unlikely]] {
      waiting_.push({words.x + kWide, words.y + kWide, words.n - kWide, words.exact});
      words.n = kWide;
    }
    steps_.several(1 + static_cast<SWord>(words.n / 4));
    now_ = words;
  }

  Words now_;
  WorkStack<Words, 24> waiting_;
  Steps<kPauses> steps_;
};

// ---- Equality: true if two terms are equal as far as has been looked, the rest being entered ----

template <bool kPauses>
bool equal_flat_maps(Term a, Term b, bool exact, SideBySide<kPauses>& words) {
  const FlatMap *m = flatmap_of(a), *n = flatmap_of(b);
  if (m->size != n->size) return false;
  words.enter(m->values(), n->values(), m->size, exact);
  if (m->keys != n->keys) words.enter(&m->keys, &n->keys, 1, true);
  return true;
}

/// The root or an inner node of large maps.
template <bool kPauses>
bool equal_tries(Term a, Term b, bool exact, SideBySide<kPauses>& words) {
  const Term *x = a.boxed_ptr(), *y = b.boxed_ptr();
  const bool root = map_kind(*x) == MapKind::kHashRoot;
  if (root && map_size_of(a) != map_size_of(b)) return false;
  for (Word i = root ? 2 : 1; i < object_words(*x); ++i) {
    if (x[i] == y[i]) continue;
    if (x[i].is_list() != y[i].is_list()) return false;
    if (!x[i].is_list() || exact) {
      words.enter(x + i, y + i, 1, exact);
    } else {
      words.enter(x[i].list_ptr() + 1, y[i].list_ptr() + 1, 1, false);
      words.enter(x[i].list_ptr(), y[i].list_ptr(), 1, true);
    }
  }
  return true;
}

template <bool kPauses>
[[gnu::always_inline]] inline bool equal_boxed(Term a, Term b, bool exact, SideBySide<kPauses>& words) {
  const Term *x = a.boxed_ptr(), *y = b.boxed_ptr();
  switch (x->header_sub()) {
    case Sub::kTuple:
    case Sub::kRecord:
      if (*x != *y) return false;
      return words.enter(x + 1, y + 1, x->header_arity(), exact), true;
    case Sub::kPosBig:
    case Sub::kNegBig:
      if (*x != *y) return !exact && b.is_float() && compare_numbers(a, b, false) == 0;
      return std::memcmp(x + 1, y + 1, x->header_arity() * sizeof(Term)) == 0;
    case Sub::kFloat:
      if (*x == *y) return compare_floats(float_of(a)->value, float_of(b)->value, exact) == 0;
      return !exact && b.is_big() && compare_numbers(a, b, false) == 0;
    case Sub::kRef:
    case Sub::kMagicRef:
    case Sub::kExternalRef: return b.is_ref() && compare_refs(a, b) == 0;
    case Sub::kExternalPid:
    case Sub::kExternalPort:
      return x->header_sub() == y->header_sub() && number_of(a) == number_of(b) && node_of(a) == node_of(b);
    case Sub::kFun: {
      if (!b.is_fun()) return false;
      const auto *f = object<FunObject>(a), *g = object<FunObject>(b);
      if (compare_fun_heads(f, g) != 0) return false;
      return words.enter(f->environment(), g->environment(), f->free_count, exact), true;
    }
    case Sub::kRefcBinary:
    case Sub::kHeapBinary:
    case Sub::kMatchContext:
    case Sub::kSubBinary: return b.is_bitstring() && equal_bitstrings(a, b, words.steps());
    case Sub::kMap:
      // A map's kind and a trie's shape follow from its keys, and keys match exactly or not at all.
      return *x == *y && (map_kind(*x) == MapKind::kFlat ? equal_flat_maps(a, b, exact, words)
                                                         : equal_tries(a, b, exact, words));
    default: return false;
  }
}

template <bool kPauses>
[[gnu::no_stack_protector, gnu::noinline]] bool equal_walk(Term a, Term b, bool exact) {
  SideBySide<kPauses> words(a, b, exact);
  for (Term s, t; words.next(&s, &t, &exact);) {
    if (s.is_list()) {
      if (!t.is_list()) return false;
      words.enter(s.list_ptr(), t.list_ptr(), 2, exact);
    } else if (s.is_boxed() && t.is_boxed()) {
      if (!equal_boxed(s, t, exact, words)) return false;
    } else {  // one of them may still be a float or a big
      if (exact || !s.is_number() || !t.is_number() || compare_numbers(s, t, false) != 0) return false;
    }
  }
  return true;
}

// ---- Order --------------------------------------------------------------------------------------

template <bool kPauses>
[[gnu::no_stack_protector]] int compare_walk(const Term& first, const Term& second, bool exact) {
  SideBySide<kPauses> words(first, second, exact);
  for (Term a, b; words.next(&a, &b, &exact);) {
    // What programs compare most comes first.
    if (a.is_small() && b.is_small()) return order(static_cast<SWord>(a.raw()), static_cast<SWord>(b.raw()));
    if (a.is_tuple() && b.is_boxed() && *a.boxed_ptr() == *b.boxed_ptr()) {
      words.enter(a.tuple_elements(), b.tuple_elements(), a.tuple_arity(), exact);
      continue;
    }
    const int rank = rank_of(a);
    if (const int other = rank_of(b); rank != other) return order(rank, other);
    switch (rank) {
      case kNumber:
        if (int c = compare_numbers(a, b, exact)) return c;
        break;
      case kAtom: return compare_atoms(a, b);
      case kReference:
        if (int c = compare_refs(a, b)) return c;
        break;
      case kPid:
        if (int c = compare_pids(a, b)) return c;
        break;
      case kPort:
        if (int c = compare_ports(a, b)) return c;
        break;
      case kFun: {
        const auto *f = object<FunObject>(a), *g = object<FunObject>(b);
        if (int c = compare_fun_heads(f, g)) return c;
        words.enter(f->environment(), g->environment(), f->free_count, exact);
        break;
      }
      case kTuple: return order(a.tuple_arity(), b.tuple_arity());  // the arities differ
      case kList: words.enter(a.list_ptr(), b.list_ptr(), 2, exact); break;
      case kBits:
        if (int c = compare_bitstrings(a, b, words.steps())) return c;
        break;
      case kMap:  // all keys, then the values; maps of one size are of one kind
        if (int c = order(map_size_of(a), map_size_of(b))) return c;
        if (map_kind(*a.boxed_ptr()) == MapKind::kFlat) {
          enter_flat_maps(flatmap_of(a), flatmap_of(b), exact, words);
        } else {
          const auto x = sorted_cells(a, words.steps()), y = sorted_cells(b, words.steps());
          for (std::size_t i = x.size(); i-- > 0;) words.enter(x[i] + 1, y[i] + 1, 1, exact);
          for (std::size_t i = x.size(); i-- > 0;) words.enter(x[i], y[i], 1, true);
        }
        break;
      case kRecord:
        if (int c = compare_definitions(a, b)) return c;
        words.enter(record_values(a), record_values(b), definition_of(a).field_count(), exact);
        break;
      default: break;
    }
  }
  return 0;
}

// ---- What needs no walk -------------------------------------------------------------------------

enum class Answer : unsigned char { kDifferent, kEqual, kUndecided };

constexpr Word kFewWords = 16, kFewBytes = 256;

Answer answer(bool equal) { return equal ? Answer::kEqual : Answer::kDifferent; }

/// Whole bytes at a byte's boundary.
struct Bytes {
  const std::uint8_t* first;
  Word size;
};
inline bool bytes_of(const Term* object, Bytes* out) {
  switch (object->header_sub()) {
    case Sub::kHeapBinary: {
      const auto* b = reinterpret_cast<const HeapBinary*>(object);
      *out = {b->data, b->size_bytes};
      return true;
    }
    case Sub::kRefcBinary: {
      const auto* b = reinterpret_cast<const RefcBinary*>(object);
      *out = {b->bytes, b->size_bytes};
      return true;
    }
    case Sub::kSubBinary: {
      const auto* s = reinterpret_cast<const SubBinary*>(object);
      if ((s->bit_size | s->bit_offset) != 0 || !bytes_of(s->original.boxed_ptr(), out)) return false;
      *out = {out->first + s->offset_bytes, s->size_bytes};
      return true;
    }
    default: return false;
  }
}

template <class T>
bool same_at(const std::uint8_t* x, const std::uint8_t* y) {
  T a, b;
  std::memcpy(&a, x, sizeof(T));
  std::memcpy(&b, y, sizeof(T));
  return a == b;
}
/// A few bytes, the last of them twice if need be.
inline bool equal_bytes(const std::uint8_t* x, const std::uint8_t* y, Word n) {
  if (n >= 8) {
    const Word last = n - 8;
    for (Word i = 0; i < last; i += 8)
      if (!same_at<std::uint64_t>(x + i, y + i)) return false;
    return same_at<std::uint64_t>(x + last, y + last);
  }
  if (n >= 4) return same_at<std::uint32_t>(x, y) && same_at<std::uint32_t>(x + n - 4, y + n - 4);
  if (n >= 2) return same_at<std::uint16_t>(x, y) && same_at<std::uint16_t>(x + n - 2, y + n - 2);
  return n == 0 || *x == *y;
}

[[gnu::noinline]] Answer equal_binaries(const Term* x, const Term* y) {
  Bytes a, b;
  if (!bytes_of(x, &a) || !bytes_of(y, &b)) return Answer::kUndecided;
  if (a.size != b.size) return Answer::kDifferent;
  return a.size > kFewBytes ? Answer::kUndecided : answer(equal_bytes(a.first, b.first, a.size));
}

/// The words of two tuples. One that is immediate is equal to the same word only.
inline Answer equal_words(const Term* x, const Term* y, Word n) {
  bool same = true;
  for (Word i = 0; i < n; ++i) {
    if (x[i] == y[i]) continue;
    if (x[i].is_immed() || y[i].is_immed()) return Answer::kDifferent;
    same = false;
  }
  return same ? Answer::kEqual : Answer::kUndecided;
}

[[gnu::noinline]] Answer equal_cells(Term a, Term b) {
  for (Word n = 0; n < kFewWords; ++n) {
    const Term *x = a.list_ptr(), *y = b.list_ptr();
    if (x[0] != y[0]) return x[0].is_immed() || y[0].is_immed() ? Answer::kDifferent : Answer::kUndecided;
    a = x[1];
    b = y[1];
    if (a == b) return Answer::kEqual;
    if (!a.is_list() || !b.is_list())
      return a.is_boxed() && b.is_boxed() ? Answer::kUndecided : Answer::kDifferent;
  }
  return Answer::kUndecided;
}

/// Whether two terms that are not immediate are =:=, if that is seen without a walk. Most are such:
/// short texts, tuples and lists of immediates, terms of different kinds.
inline Answer equal_at_sight(Term a, Term b) {
  if (a.primary() != b.primary()) return Answer::kDifferent;
  if (a.is_list()) return equal_cells(a, b);
  const Term *x = a.boxed_ptr(), *y = b.boxed_ptr();
  switch (x->header_sub()) {
    case Sub::kTuple:
      if (*x != *y) return Answer::kDifferent;
      return x->header_arity() <= kFewWords ? equal_words(x + 1, y + 1, x->header_arity())
                                            : Answer::kUndecided;
    case Sub::kFloat:
      if (*x != *y) return Answer::kDifferent;
      return answer(compare_floats(float_of(a)->value, float_of(b)->value, true) == 0);
    case Sub::kRef: {
      if (y->header_sub() != Sub::kRef) return Answer::kUndecided;
      const std::uint32_t *m = ref_of(a)->numbers, *n = ref_of(b)->numbers;
      return answer(m[0] == n[0] && m[1] == n[1] && m[2] == n[2]);
    }
    case Sub::kHeapBinary:
    case Sub::kRefcBinary:
    case Sub::kSubBinary: return equal_binaries(x, y);
    default: return Answer::kUndecided;
  }
}

template <bool kPauses>
[[gnu::always_inline]] inline bool equal_exactly(Term a, Term b) {
  if (const Answer seen = equal_at_sight(a, b); seen != Answer::kUndecided) return seen == Answer::kEqual;
  return equal_walk<kPauses>(a, b, true);
}

/// A float, or an integer that a float can be: which numbers are compared as floats.
inline bool is_exact_double(Term t, double* out) {
  constexpr SWord kLast = SWord{1} << 53;
  if (t.is_float()) return *out = float_of(t)->value, true;
  if (!t.is_small() || t.small_value() > kLast || t.small_value() < -kLast) return false;
  return *out = static_cast<double>(t.small_value()), true;
}

}  // namespace

namespace detail {
bool equal_exact_slow(Term a, Term b) { return equal_exactly<false>(a, b); }
bool equal_slow(Term a, Term b) { return equal_walk<false>(a, b, false); }
int compare_slow(Term a, Term b) { return compare_walk<false>(a, b, false); }

bool long_equal_exact(Term a, Term b) { return equal_exactly<true>(a, b); }
bool long_equal(Term a, Term b) {
  double v, w;
  if (is_exact_double(a, &v) && is_exact_double(b, &w)) return v == w;
  return equal_walk<true>(a, b, false);
}
int long_compare(Term a, Term b) {
  if (a.is_float() && b.is_float()) return order(float_of(a)->value, float_of(b)->value);
  double v, w;
  if (is_exact_double(a, &v) && is_exact_double(b, &w)) return order(v, w);
  return compare_walk<true>(a, b, false);
}
int long_compare_keys(Term a, Term b) { return compare_walk<true>(a, b, true); }
}  // namespace detail

int compare_keys(Term a, Term b) {
  if (a == b) return 0;
  if (a.is_small() && b.is_small()) return order(static_cast<SWord>(a.raw()), static_cast<SWord>(b.raw()));
  if (a.is_atom() && b.is_atom()) return compare_atoms(a, b);
  return compare_walk<false>(a, b, true);
}

int compare_flat_keys(Term a, Term b) {
  if (!a.is_atom() || !b.is_atom() || !release_has(Trait::kAtomNumberOrder)) return compare_keys(a, b);
  return order(a.raw(), b.raw());
}

int compare_atoms(Term a, Term b) {
  // UTF-8 sorts by bytes as its code points do.
  return atom_text(a).compare(atom_text(b));
}

}  // namespace vmrun
