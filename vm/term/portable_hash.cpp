// SPDX-License-Identifier: Apache-2.0
#include <cstring>
#include <vector>

#include "vm/base/work_stack.hpp"
#include "vm/term/atom.hpp"
#include "vm/term/bits.hpp"
#include "vm/term/fun.hpp"
#include "vm/term/hash.hpp"
#include "vm/term/layout.hpp"
#include "vm/term/native_record.hpp"
#include "vm/term/pid_numbers.hpp"

// erlang:phash2. The language promises its numbers, so the steps below are fixed. Terms are mixed
// one after another into 32 bits by Jenkins' function of 1996 (Dr. Dobb's Journal 22(9)), each kind
// of term with its own multiple of the golden ratio. Pairs of a map are hashed separately and
// combined by exclusive or, so that their order does not matter.

namespace vmrun {
namespace {

using Sub = Term::Sub;

constexpr std::uint32_t golden(std::uint32_t kind) { return kind * 0x9E3779B9u; }
constexpr std::uint32_t kInteger = golden(1), kNil = golden(2), kAtom = golden(3), kText = golden(4),
                        kPid = golden(5), kPort = golden(6), kRef = golden(7), kTuple = golden(9),
                        kNegative = golden(10), kPositive = golden(11), kFloat = golden(12),
                        kBytes = golden(13), kFunction = golden(14), kOddBits = golden(15), kMap = golden(16),
                        kMapPairs = golden(19), kRecord = golden(23);

struct Mixer {
  std::uint32_t hash = 0;

  static void mix(std::uint32_t& a, std::uint32_t& b, std::uint32_t& c) {
    constexpr int kShifts[3][3] = {{13, 8, 13}, {12, 16, 5}, {3, 10, 15}};
    for (const auto& s : kShifts) {
      a = (a - b - c) ^ (c >> s[0]);
      b = (b - c - a) ^ (a << s[1]);
      c = (c - a - b) ^ (b >> s[2]);
    }
  }
  void add(std::uint32_t x, std::uint32_t y, std::uint32_t kind) {
    std::uint32_t a = kind + x, b = kind + y;
    mix(a, b, hash);
  }
  void add(std::uint32_t x, std::uint32_t kind) { add(x, 0, kind); }

  void add_bytes(const std::uint8_t* p, Word size, std::uint32_t start) {
    std::uint32_t a = golden(1), b = golden(1);
    const auto word = [](const std::uint8_t* q) {
      std::uint32_t w;
      std::memcpy(&w, q, 4);
      return w;
    };
    hash = start;
    Word left = size;
    for (; left >= 12; p += 12, left -= 12) {
      a += word(p);
      b += word(p + 4);
      hash += word(p + 8);
      mix(a, b, hash);
    }
    std::uint8_t rest[12] = {};  // the length takes the low byte of the third word
    std::memcpy(rest, p, left < 8 ? left : 8);
    if (left > 8) std::memcpy(rest + 9, p + 8, left - 8);
    a += word(rest);
    b += word(rest + 4);
    hash += word(rest + 8) + static_cast<std::uint32_t>(size);
    mix(a, b, hash);
  }

  void add_limb(Word limb, bool negative) {
    add(static_cast<std::uint32_t>(limb), static_cast<std::uint32_t>(limb >> 32),
        negative ? kNegative : kPositive);
  }

  void add_small(SWord v) {
    if (v < -(SWord{1} << 27) || v >= SWord{1} << 27)
      return add_limb(v < 0 ? -static_cast<Word>(v) : static_cast<Word>(v), v < 0);
    if (v < 0) add(static_cast<std::uint32_t>(-v), kInteger);
    add(static_cast<std::uint32_t>(v), kInteger);
  }
};

class PortableHash {
 public:
  explicit PortableHash(SWord steps) : left_(steps) {}

  /// Returns false when it takes more steps.
  bool run(Term t, std::uint32_t* hash) {
    for (;;) {
      t = t.is_list() ? list(t) : t.is_immed() ? immediate(t) : boxed(t);
      while (!t) {
        if (work_.empty()) {
          *hash = m_.hash;
          return left_ >= 0;
        }
        const Job job = work_.pop();
        t = job.term;
        if (job.kind == Job::kPairEnd) {
          maps_.back().pairs ^= m_.hash;
          m_.hash = 0;
        } else if (job.kind == Job::kMapEnd) {
          m_.hash = maps_.back().before;
          m_.add(maps_.back().pairs, kMapPairs);
          maps_.pop_back();
        }
      }
    }
  }

 private:
  struct Job {
    enum Kind : std::uint8_t { kTerm, kPairEnd, kMapEnd } kind;
    Term term;
  };
  struct OpenMap {
    std::uint32_t before, pairs;
  };
  // Each takes a term and returns the one to go on with, or the non-value when the next term waits
  // on the stack.

  Term list(Term t) {
    if (--left_ < 0) [[unlikely]]
      return give_up();
    std::uint32_t text = 0;
    int count = 0;
    for (; t.is_list() && t.head().is_small() && static_cast<Word>(t.head().small_value()) < 256;
         t = t.tail()) {
      text = text << 8 | static_cast<std::uint32_t>(t.head().small_value());
      if (++count < 4) continue;
      m_.add(text, kText);
      text = 0;
      count = 0;
      if (--left_ < 0) [[unlikely]]
        return give_up();
    }
    if (count) m_.add(text, kText);
    if (!t.is_list()) return t;
    push(t.tail());
    return t.head();
  }

  void port(Word number) {
    m_.add(static_cast<std::uint32_t>(number), static_cast<std::uint32_t>(number >> 32), kPort);
  }

  Term immediate(Term t) {
    if (t.is_small()) {
      m_.add_small(t.small_value());
    } else if (t.is_atom()) {
      m_.hash == 0 ? void(m_.hash = portable_atom_number(t)) : m_.add(portable_atom_number(t), kAtom);
    } else if (t.is_nil()) {
      m_.hash == 0 ? void(m_.hash = 3468870702u) : m_.add(2, kNil);
    } else if (t.is_local_pid()) {
      m_.add(static_cast<std::uint32_t>(pid_number(t.id_number())), kPid);
    } else {
      port(t.id_number());
    }
    return kNonValue;
  }

  Term boxed(Term t) {
    const Term* p = t.boxed_ptr();
    const Term header = *p;
    switch (header.header_sub()) {
      case Sub::kTuple:
        m_.add(static_cast<std::uint32_t>(header.header_arity()), kTuple);
        return all(p + 1, header.header_arity());
      case Sub::kPosBig:
      case Sub::kNegBig:
        if (!spend(header.header_arity())) return kNonValue;
        for (Word i = 1; i <= header.header_arity(); ++i)
          m_.add_limb(p[i].raw(), header.header_sub() == Sub::kNegBig);
        return kNonValue;
      case Sub::kFloat: {
        const double value = float_of(t)->value + 0.0;  // no negative zero
        Word bits;
        std::memcpy(&bits, &value, 8);
        m_.add(static_cast<std::uint32_t>(bits >> 32), static_cast<std::uint32_t>(bits), kFloat);
        return kNonValue;
      }
      case Sub::kRecord: {
        const RecordDefinition d = definition_of(t);
        m_.add(static_cast<std::uint32_t>(d.field_count()), d.portable_hash(), kRecord);
        return all(record_values(t), d.field_count());
      }
      case Sub::kFun: return fun(fun_of(t));
      case Sub::kMap: map(p); return kNonValue;
      case Sub::kRef:
      case Sub::kMagicRef: m_.add(local_ref_numbers(t)[0], kRef); return kNonValue;
      case Sub::kExternalRef:
      case Sub::kExternalPid:
      case Sub::kExternalPort: {
        const Sub sub = header.header_sub();
        const Word number = reinterpret_cast<const ExternalObject*>(p)->data[0];
        if (sub == Sub::kExternalPort) port(number);
        else m_.add(static_cast<std::uint32_t>(number), sub == Sub::kExternalRef ? kRef : kPid);
        return kNonValue;
      }
      default: bits(t); return kNonValue;
    }
  }

  void push(Term t) { work_.push({Job::kTerm, t}); }

  /// A part that takes many steps calls this first, and is left out when it returns false.
  bool spend(Word steps) { return (left_ -= static_cast<SWord>(steps)) >= 0; }
  /// Drops all further work. (The state of open maps is not used then.)
  [[gnu::cold]] Term give_up() {
    while (!work_.empty()) work_.pop();
    return kNonValue;
  }

  /// Returns the first term; the others wait.
  Term all(const Term* p, Word count) {
    if (count == 0) return kNonValue;
    if (!spend(count)) [[unlikely]]
      return give_up();
    for (Word i = count; i-- > 1;) push(p[i]);
    return p[0];
  }

  Term fun(const FunObject* f) {
    if (f->is_external) {
      m_.add(f->exported->arity, portable_atom_number(f->exported->module), golden(1));
      m_.add(portable_atom_number(f->exported->function), kFunction);
      return kNonValue;
    }
    m_.add(f->free_count, portable_atom_number(f->entry->module), golden(1));
    m_.add(f->entry->index, f->entry->old_uniq, golden(1));
    return all(f->environment(), f->free_count);
  }

  void pair(Term key, Term value) {
    work_.push({Job::kPairEnd, kNonValue});
    push(value);
    push(key);
  }
  void trie(const Term* node) {
    const Term* end = node + object_words(*node);
    for (const Term* p = node + (map_kind(*node) == MapKind::kHashNode ? 1 : 2); p < end; ++p) {
      p->is_list() ? pair(p->head(), p->tail()) : trie(p->boxed_ptr());
    }
  }
  void map(const Term* p) {
    const Word size = p[1].raw();
    m_.add(static_cast<std::uint32_t>(size), kMap);
    if (size == 0 || !spend(size)) return;
    maps_.push_back({m_.hash, 0});
    m_.hash = 0;
    work_.push({Job::kMapEnd, kNonValue});
    if (map_kind(*p) != MapKind::kFlat) return trie(p);
    const auto* flat = reinterpret_cast<const FlatMap*>(p);
    for (Word i = size; i-- > 0;) pair(flat->keys.element(i), flat->values()[i]);
  }

  void bits(Term t) {
    BitView v = bits_of(t);
    // The number of bytes counts modulo 2^32.
    v.size_bits &= (Word{1} << 35) - 1;
    const std::uint32_t start = kBytes + m_.hash;
    const Word whole = v.size_bits / 8;
    const auto odd = static_cast<unsigned>(v.size_bits % 8);
    if (v.size_bits == 0) {
      m_.hash = start;
      return;
    }
    if (!spend(whole / 8)) return;
    const BytesOf bytes(v);
    m_.add_bytes(bytes.data(), whole, start);
    if (odd) {
      std::uint8_t last = 0;
      copy_bits(&last, 8 - odd, v.base, v.offset_bits + whole * 8, odd);
      m_.add(odd, last, kOddBits);
    }
  }

  SWord left_;
  Mixer m_;
  WorkStack<Job, 32> work_;
  std::vector<OpenMap> maps_;
};

}  // namespace

std::uint32_t portable_atom_number(Term atom) {
  const std::string_view text = atom_text(atom);
  std::uint32_t h = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    auto c = static_cast<unsigned char>(text[i]);
    if ((c & 0xFE) == 0xC2 && i + 1 < text.size())
      c = static_cast<unsigned char>(c << 6 | (text[++i] & 0x3F));
    h = (h << 4) + c;
    const std::uint32_t high = h & 0xF0000000;
    h ^= high >> 24 ^ high;
  }
  return h;
}

bool portable_hash2_within(SWord steps, Term t, std::uint32_t* hash) {
  return PortableHash(steps).run(t, hash);
}
std::uint32_t portable_hash2(Term t) {
  std::uint32_t hash = 0;
  (void)portable_hash2_within(INT64_MAX, t, &hash);
  return hash;
}

}  // namespace vmrun
