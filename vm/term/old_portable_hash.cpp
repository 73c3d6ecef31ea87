// SPDX-License-Identifier: Apache-2.0
#include <cstring>

#include "vm/base/work_stack.hpp"
#include "vm/term/bits.hpp"
#include "vm/term/fun.hpp"
#include "vm/term/hash.hpp"
#include "vm/term/layout.hpp"
#include "vm/term/native_record.hpp"
#include "vm/term/pid_numbers.hpp"

// erlang:phash, the old hash. Its numbers must not change either. Terms are added one after another
// to a number of 32 bits, which is multiplied each time by a prime for the kind of the term.

namespace vmrun {
namespace {

using Sub = Term::Sub;

constexpr std::uint32_t kAtom = 268440163, kNumber = 268439161, kPositive = 268435459, kNegative = 268436141,
                        kPid = 268438633, kPidEnd = 268437017, kFloat = 268437017, kListEnd = 268437511,
                        kTuple = 268439627, kIdentity = 268439627, kIdentityEnd = 268440479, kFun = 268440479,
                        kExternalFun = 268440577, kHighPort = 268440577, kOddBits = 268440581,
                        kMap = 268440593, kMapAddend = 268440611, kByte = kAtom, kSizeOfBits = kNegative,
                        kNil = kPositive, kRecord = 268440629;

class OldPortableHash {
 public:
  explicit OldPortableHash(SWord steps) : left_(steps) {}

  /// Returns false when it takes more steps.
  bool run(Term t, std::uint32_t* hash) {
    for (;;) {
      t = t.is_list() ? list(t) : t.is_immed() ? immediate(t) : boxed(t);
      while (!t) {
        if (left_ < 0) return false;
        if (work_.empty()) {
          *hash = hash_;
          return true;
        }
        t = resume(work_.pop());
      }
    }
  }

 private:
  struct Job {
    enum Kind : std::uint8_t { kTerm, kTail, kListEnd, kTupleEnd, kRecordEnd } kind;
    Term term;
    Word arity;
  };
  // Each returns the term to go on with, or the non-value when the next term waits on the stack.

  Term resume(const Job& job) {
    switch (job.kind) {
      case Job::kTerm: return job.term;
      case Job::kTail: return tail(job.term);
      case Job::kListEnd: hash_ *= kListEnd; return kNonValue;
      case Job::kTupleEnd: add(kTuple, static_cast<std::uint32_t>(job.arity)); return kNonValue;
      case Job::kRecordEnd: add(kRecord, static_cast<std::uint32_t>(job.arity)); return kNonValue;
    }
    return kNonValue;
  }

  void add(std::uint32_t prime, std::uint32_t value) { hash_ = hash_ * prime + value; }
  void add_bytes_of(Word value, unsigned bytes, std::uint32_t prime) {
    for (; bytes > 0; --bytes, value >>= 8) add(prime, static_cast<std::uint32_t>(value & 0xFF));
  }
  /// Adds the last digit of a number: four of its bytes, or all eight where four are not enough.
  void add_digit(Word value) { add_bytes_of(value, value >> 32 ? 8 : 4, kNumber); }

  bool spend(Word steps) { return (left_ -= static_cast<SWord>(steps)) >= 0; }

  Term tail(Term t) {
    if (t.is_list()) return t;
    work_.push({Job::kListEnd, kNonValue, 0});
    return t;
  }

  /// Small numbers that may be characters are added as they are.
  Term list(Term t) {
    for (; t.is_list() && t.head().is_small() && static_cast<Word>(t.head().small_value()) < 256;
         t = t.tail()) {
      if (!spend(1)) return kNonValue;
      add(kNumber, static_cast<std::uint32_t>(t.head().small_value()));
    }
    if (!t.is_list()) return tail(t);
    if (!spend(1)) return kNonValue;
    work_.push({Job::kTail, t.tail(), 0});
    return t.head();
  }

  Term immediate(Term t) {
    if (t.is_small()) {
      const SWord v = t.small_value();
      add_digit(v < 0 ? -static_cast<Word>(v) : static_cast<Word>(v));
      hash_ *= v < 0 ? kNegative : kPositive;
    } else if (t.is_atom()) {
      add(kAtom, portable_atom_number(t));
    } else if (t.is_nil()) {
      add(kNil, 1);
    } else if (t.is_local_pid()) {
      identity(pid_number(t.id_number()), kPid, kPidEnd);
    } else {
      port(t.id_number());
    }
    return kNonValue;
  }

  void identity(Word number, std::uint32_t prime, std::uint32_t end) {
    add_bytes_of(number, 4, prime);
    hash_ *= end;
  }
  void port(Word number) {
    if (number >> 32) add_bytes_of(number >> 32, 4, kHighPort);
    identity(number & 0xFFFFFFFF, kIdentity, kIdentityEnd);
  }

  Term boxed(Term t) {
    const Term* p = t.boxed_ptr();
    const Word arity = p->header_arity();
    switch (p->header_sub()) {
      case Sub::kTuple: work_.push({Job::kTupleEnd, kNonValue, arity}); return all(p + 1, arity);
      case Sub::kPosBig:
      case Sub::kNegBig: big(p); return kNonValue;
      case Sub::kFloat: {
        const double value = float_of(t)->value + 0.0;  // no negative zero
        Word bits;
        std::memcpy(&bits, &value, sizeof bits);
        add(kFloat, static_cast<std::uint32_t>(bits) ^ static_cast<std::uint32_t>(bits >> 32));
        return kNonValue;
      }
      case Sub::kRecord: return record(t);
      case Sub::kFun: return fun(fun_of(t));
      case Sub::kMap: map(t); return kNonValue;
      case Sub::kRef:
      case Sub::kMagicRef: identity(local_ref_numbers(t)[0], kIdentity, kIdentityEnd); return kNonValue;
      case Sub::kExternalRef: identity(external_number(p), kIdentity, kIdentityEnd); return kNonValue;
      case Sub::kExternalPid: identity(external_number(p), kPid, kPidEnd); return kNonValue;
      case Sub::kExternalPort: port(external_number(p)); return kNonValue;
      default: bits(t); return kNonValue;
    }
  }

  static Word external_number(const Term* p) { return reinterpret_cast<const ExternalObject*>(p)->data[0]; }

  void big(const Term* p) {
    const Word limbs = p->header_arity();
    if (!spend(limbs)) return;
    for (Word i = 1; i < limbs; ++i) add_bytes_of(p[i].raw(), 8, kNumber);
    add_digit(p[limbs].raw());
    hash_ *= p->header_sub() == Sub::kNegBig ? kNegative : kPositive;
  }

  /// A definition counts as the tuple that it is in OTP, which begins with the order of its fields.
  Term record(Term t) {
    const RecordDefinition d = definition_of(t);
    const Word n = d.field_count();
    if (!spend(3 * n)) return kNonValue;
    for (Word i = 0; i < n; ++i) immediate(Term::small(static_cast<SWord>(i)));
    add(kTuple, static_cast<std::uint32_t>(n));
    for (Word i = 0; i < d.tuple().tuple_arity(); ++i) immediate(d.tuple().element(i));
    add(kTuple, static_cast<std::uint32_t>(1 + d.tuple().tuple_arity()));
    work_.push({Job::kRecordEnd, kNonValue, 1 + n});
    return all(record_values(t), n);
  }

  /// Returns the first term; the others wait.
  Term all(const Term* p, Word count) {
    if (count == 0 || !spend(count)) return kNonValue;
    for (Word i = count; i-- > 1;) work_.push({Job::kTerm, p[i], 0});
    return p[0];
  }

  Term fun(const FunObject* f) {
    if (f->is_external) {
      add(kExternalFun, f->exported->arity);
      add(kAtom, portable_atom_number(f->exported->module));
      add(kAtom, portable_atom_number(f->exported->function));
      return kNonValue;
    }
    add(kFun, static_cast<std::uint32_t>(f->free_count));
    add(kAtom, portable_atom_number(f->entry->module));
    add(kNumber, f->entry->index);
    add(kNumber, f->entry->old_uniq);
    return all(f->environment(), f->free_count);
  }

  void map(Term t) {
    std::uint32_t newer;
    if (!portable_hash2_within(left_, t, &newer)) {
      left_ = -1;
      return;
    }
    add(kMap, kMapAddend + newer);
  }

  void bits(Term t) {
    const BitView v = bits_of(t);
    const Word whole = v.size_bits / 8;
    const auto odd = static_cast<unsigned>(v.size_bits % 8);
    if (!spend(whole / 8)) return;
    const BytesOf bytes(t);
    for (Word i = 0; i < whole; ++i) add(kByte, bytes.data()[i]);
    if (odd) {
      std::uint8_t last = 0;
      copy_bits(&last, 8 - odd, v.base, v.offset_bits + whole * 8, odd);
      add(kByte, last);
      hash_ = hash_ * kOddBits + odd;
    }
    add(kSizeOfBits, static_cast<std::uint32_t>(whole));
  }

  SWord left_;
  std::uint32_t hash_ = 0;
  WorkStack<Job, 32> work_;
};

}  // namespace

bool old_portable_hash_within(SWord steps, Term t, std::uint32_t* hash) {
  return OldPortableHash(steps).run(t, hash);
}

}  // namespace vmrun
