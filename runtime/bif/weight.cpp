#include "runtime/bif/weight.hpp"

#include "vm/term/big.hpp"
#include "vm/term/bits.hpp"
#include "vm/term/map.hpp"

namespace vmrun {
namespace {

/// Goes through a term until it has counted enough; what is still to be looked at are ranges of
/// elements and tails of lists, few at a time.
class Scales {
 public:
  explicit Scales(unsigned depth = 0, Word steps = 0) : depth_(depth), steps_(steps) {}
  bool much(Term t) {
    for (;;) {
      while (t.is_list()) {
        if (++steps_ > kStepsOnScheduler) return true;
        const Term head = t.head();
        t = t.tail();
        if (head.is_immed()) continue;
        if (!push(t)) return true;
        t = head;
      }
      if (t.is_boxed() && !boxed(t)) return true;
      if (steps_ > kStepsOnScheduler) return true;
      do {
        if (pending_ == 0) return false;
        t = take();
      } while (t.is_immed());
    }
  }

 private:
  struct Range {
    const Term* next;
    Word tail;  // if there is no next
    Word count;
  };
  static constexpr unsigned kMostPending = 128, kMostMaps = 8;

  bool push(Term tail) {
    if (tail.is_immed()) return true;
    if (pending_ == kMostPending) return false;
    stack_[pending_++] = {nullptr, tail.raw(), 1};
    return true;
  }
  bool push(const Term* first, Word count) {
    if (pending_ == kMostPending) return false;
    if (count) stack_[pending_++] = {first, 0, count};
    return true;
  }
  Term take() {
    Range& r = stack_[pending_ - 1];
    const Term t = r.next ? *r.next++ : Term::from_raw(r.tail);
    if (--r.count == 0) --pending_;
    return t;
  }
  /// Counts an object and what hangs on it; false when that is too much to follow.
  bool boxed(Term t) {
    ++steps_;
    if (t.is_tuple()) {
      const Word arity = t.tuple_arity();
      steps_ += arity;
      return push(t.tuple_elements(), arity);
    }
    if (t.is_bitstring()) {
      steps_ += bit_size_of(t) / 8 / kBytesPerStep;
    } else if (t.is_map()) {
      steps_ += 2 * map_size(t);
      return depth_ < kMostMaps && steps_ <= kStepsOnScheduler && pairs(t);
    } else if (t.is_fun()) {
      const FunObject* f = reinterpret_cast<const FunObject*>(t.boxed_ptr());
      return f->is_external || push(f->environment(), f->free_count);
    } else if (t.is_integer()) {
      steps_ += t.boxed_ptr()->header_arity();
    }
    return true;
  }

  /// The keys and values of a map; false when they are too much.
  bool pairs(Term map) {
    Term key, value;
    for (MapIterator it(map); it.next(&key, &value);) {
      if (key.is_immed() && value.is_immed()) continue;
      Scales inside(depth_ + 1, steps_);
      if (inside.much(key) || inside.much(value)) return false;
      steps_ = inside.steps_;
    }
    return true;
  }

  const unsigned depth_;
  Word steps_;
  unsigned pending_ = 0;
  Range stack_[kMostPending];
};

}  // namespace

bool weighs_much(Term t) {
  if (t.is_immed()) return false;
  if (t.is_bitstring()) return too_long(bit_size_of(t) / 8 / kBytesPerStep);
  return Scales().much(t) && too_long(kStepsOnScheduler + 1);
}

}  // namespace vmrun
