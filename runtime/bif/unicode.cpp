#include <algorithm>
#include <optional>
#include <vector>

#include "runtime/bif/internal_state.hpp"
#include "runtime/bif/support.hpp"
#include "runtime/bif/unicode.hpp"
#include "runtime/bif/weight.hpp"
#include "vm/term/bits.hpp"

/// unicode:characters_to_list and characters_to_binary: deep lists of code points and binaries,
/// between encodings. A character may be cut by the end of a binary and go on in the next one.
namespace vmrun {
namespace {

enum class Encoding { kLatin1, kUtf8, kUtf16Big, kUtf16Little, kUtf32Big, kUtf32Little };

std::optional<Encoding> encoding_argument(Term t) {
  if (t == intern_atom("latin1")) return Encoding::kLatin1;
  if (t == intern_atom("unicode") || t == intern_atom("utf8")) return Encoding::kUtf8;
  bool little = false;
  if (t.is_tuple() && t.tuple_arity() == 2) {
    little = t.element(1) == intern_atom("little");
    if (!little && t.element(1) != intern_atom("big")) return std::nullopt;
    t = t.element(0);
  }
  if (t == intern_atom("utf16")) return little ? Encoding::kUtf16Little : Encoding::kUtf16Big;
  if (t == intern_atom("utf32")) return little ? Encoding::kUtf32Little : Encoding::kUtf32Big;
  return std::nullopt;
}

bool scalar(std::uint32_t c) { return c < 0xD800 || (c > 0xDFFF && c <= 0x10FFFF); }

enum class Step { kCharacter, kInvalid, kIncomplete };

/// The character at the start of n > 0 bytes.
Step decode_utf8(const std::uint8_t* b, Word n, std::uint32_t* c, Word* length) {
  static constexpr std::uint32_t kLeast[] = {0, 0, 0x80, 0x800, 0x10000};
  if (b[0] < 0x80) {
    *c = b[0];
    *length = 1;
    return Step::kCharacter;
  }
  const Word need = b[0] < 0xC0 ? 0 : b[0] < 0xE0 ? 2 : b[0] < 0xF0 ? 3 : b[0] < 0xF8 ? 4 : 0;
  if (need == 0) return Step::kInvalid;
  if (n < need) return Step::kIncomplete;  // even if it cannot become a character: utf8_possible
  *c = b[0] & (0x7Fu >> need);
  for (Word i = 1; i < need; ++i) {
    if ((b[i] & 0xC0) != 0x80) return Step::kInvalid;
    *c = *c << 6 | (b[i] & 0x3F);
  }
  *length = need;
  return *c >= kLeast[need] && scalar(*c) ? Step::kCharacter : Step::kInvalid;
}

/// Whether a cut character can still become one, as its form alone tells.
bool utf8_possible(std::string_view cut) {
  return std::all_of(cut.begin() + 1, cut.end(), [](char c) { return (c & 0xC0) == 0x80; });
}

/// Whether the first n < 4 bytes of a 32-bit unit can still become a character.
bool utf32_possible(bool big, const std::uint8_t* b, Word n) {
  if (!big) return n < 3 || (b[2] <= 0x10 && (b[2] != 0 || b[1] < 0xD8 || b[1] > 0xDF));
  return b[0] == 0 && (n < 2 || b[1] <= 0x10) && (n < 3 || b[1] != 0 || b[2] < 0xD8 || b[2] > 0xDF);
}

Step decode(Encoding e, const std::uint8_t* b, Word n, std::uint32_t* c, Word* length) {
  const auto unit16 = [&](Word at) -> std::uint32_t {
    return e == Encoding::kUtf16Big ? static_cast<std::uint32_t>(b[at]) << 8 | b[at + 1]
                                    : static_cast<std::uint32_t>(b[at + 1]) << 8 | b[at];
  };
  switch (e) {
    case Encoding::kLatin1:
      *c = b[0];
      *length = 1;
      return Step::kCharacter;
    case Encoding::kUtf8: return decode_utf8(b, n, c, length);
    case Encoding::kUtf16Big:
    case Encoding::kUtf16Little: {
      if (n < 2)
        return e == Encoding::kUtf16Big && b[0] >= 0xDC && b[0] <= 0xDF ? Step::kInvalid : Step::kIncomplete;
      *c = unit16(0);
      *length = 2;
      if (*c < 0xD800 || *c > 0xDFFF) return Step::kCharacter;
      if (*c > 0xDBFF) return Step::kInvalid;
      if (n < 4)
        return n == 3 && e == Encoding::kUtf16Big && (b[2] < 0xDC || b[2] > 0xDF) ? Step::kInvalid
                                                                                  : Step::kIncomplete;
      const std::uint32_t low = unit16(2);
      if (low < 0xDC00 || low > 0xDFFF) return Step::kInvalid;
      *c = 0x10000 + ((*c - 0xD800) << 10 | (low - 0xDC00));
      *length = 4;
      return Step::kCharacter;
    }
    default: {
      if (n < 4) return utf32_possible(e == Encoding::kUtf32Big, b, n) ? Step::kIncomplete : Step::kInvalid;
      std::uint32_t w;
      std::memcpy(&w, b, 4);
      *c = e == Encoding::kUtf32Big ? __builtin_bswap32(w) : w;
      *length = 4;
      return scalar(*c) ? Step::kCharacter : Step::kInvalid;
    }
  }
}

/// Where characters go: a list of code points, or the bytes of a binary. false: the encoding does
/// not have the character.
class Output {
 public:
  Output(Heap& heap, std::optional<Encoding> encoding) : encoding_(encoding), list_(heap) {}

  bool put(std::uint32_t c) {
    if (!encoding_) {
      list_.add(Term::small(c));
      return true;
    }
    switch (*encoding_) {
      case Encoding::kLatin1:
        if (c > 255) return false;
        bytes_ += static_cast<char>(c);
        return true;
      case Encoding::kUtf8: append_utf8(bytes_, c); return true;
      case Encoding::kUtf16Big:
      case Encoding::kUtf16Little:
        if (c >= 0x10000) {
          put_unit(0xD800 + ((c - 0x10000) >> 10), 2);
          c = 0xDC00 + ((c - 0x10000) & 0x3FF);
        }
        put_unit(c, 2);
        return true;
      default: put_unit(c, 4); return true;
    }
  }
  /// A run of ASCII, where the output is a superset of it.
  bool takes_ascii() const {
    return encoding_ && (*encoding_ == Encoding::kUtf8 || *encoding_ == Encoding::kLatin1);
  }
  void put_ascii(const std::uint8_t* b, Word n) { bytes_.append(reinterpret_cast<const char*>(b), n); }

  bool is(Encoding e) const { return encoding_ == e; }
  bool second_step() const { return encoding_ && *encoding_ != Encoding::kUtf8; }

  Term finish(Heap& heap) { return encoding_ ? text_binary(heap, bytes_) : list_.finish(); }

 private:
  void put_unit(std::uint32_t u, unsigned size) {
    const bool little = *encoding_ == Encoding::kUtf16Little || *encoding_ == Encoding::kUtf32Little;
    for (unsigned i = 0; i < size; ++i) bytes_ += static_cast<char>(u >> 8 * (little ? i : size - 1 - i));
  }

  std::optional<Encoding> encoding_;
  ListBuilder list_;
  std::string bytes_;
};

class Converter {
 public:
  Converter(Process& p, Encoding in, std::optional<Encoding> out) : p_(p), in_(in), out_(p.heap, out) {}

  /// The non-value when it is no text, or when the steps are used up.
  Term run(Term data) {
    whole_ = data;
    if (!walk(data)) {
      const bool in_one_step = in_ == Encoding::kUtf8 && !out_.second_step();
      return failed_ && !(in_one_step && !is_text(rest_)) ? failure(atoms::error, rest_) : kNonValue;
    }
    charge(p_, steps_.spent());
    if (!partial_.empty()) {
      const bool possible = in_two_steps() || in_ != Encoding::kUtf8 || utf8_possible(partial_);
      return failure(possible ? intern_atom("incomplete") : atoms::error, text_binary(p_.heap, partial_));
    }
    return out_.finish(p_.heap);
  }
  bool used_up() const { return steps_.used_up(); }

 private:
  Term failure(Term kind, Term rest) { return new_tuple(p_.heap, kind, out_.finish(p_.heap), rest); }
  Term cons(Term head, Term tail) {
    Term* hp = p_.heap.alloc(2);
    return make_cons(hp, head, tail);
  }
  /// Whether binaries, integers and lists of them are all there is. One step of stock Erlang's goes
  /// through all data before it converts.
  static bool is_text(Term t) {
    std::vector<Term> lists{t};
    while (!lists.empty()) {
      t = lists.back();
      lists.pop_back();
      for (; t.is_list(); t = t.tail()) {
        const Term head = t.head();
        if (head.is_list()) lists.push_back(head);
        else if (!head.is_nil() && !head.is_integer() && !head.is_bitstring()) return false;
      }
      if (!t.is_nil() && !t.is_bitstring()) return false;
    }
    return true;
  }
  bool in_two_steps() const {
    return out_.second_step() || (in_ != Encoding::kUtf8 && in_ != Encoding::kLatin1);
  }
  /// Conversion stops: `rest` is what remains at this depth, the lists around it follow.
  bool stop(Term rest) {
    for (; !tails_.empty(); tails_.pop_back())
      rest = rest.is_nil() ? tails_.back() : cons(rest, tails_.back());
    rest_ = rest;
    failed_ = true;
    return false;
  }
  /// A cut character does not go on in what remains.
  bool stop_at_partial(Term remaining) {
    const Term cut = text_binary(p_.heap, partial_);
    if (in_two_steps()) return stop(cons(cut, remaining));
    stop(remaining);
    rest_ = rest_.is_nil() ? cut : cons(cut, cons(rest_, Term::nil()));
    return false;
  }

  bool walk(Term t) {
    for (;;) {
      while (t.is_list()) {
        if (!steps_.spend(1)) [[unlikely]]
          return false;
        const Term head = t.head(), tail = t.tail();
        if (head.is_list()) {
          tails_.push_back(tail);
          t = head;
          continue;
        }
        if (head.is_integer()) {
          if (!character(head, t)) return false;
        } else if (head.is_bitstring()) {
          if (!binary(head, t)) return false;
        } else if (!head.is_nil()) {
          return false;
        }
        t = tail;
      }
      if (t.is_bitstring() ? !binary(t, kNonValue) : !t.is_nil()) return false;
      if (tails_.empty()) return true;
      t = tails_.back();
      tails_.pop_back();
    }
  }

  bool character(Term c, Term cell) {
    if (!partial_.empty()) return stop_at_partial(cell);
    const bool good = in_ == Encoding::kLatin1
                          ? c.is_small() && c.small_value() >= 0 && c.small_value() <= 255
                          : is_unicode_scalar(c);
    if (good && out_.put(static_cast<std::uint32_t>(c.small_value()))) return true;
    // Encodings that stock Erlang converts in a second step put the offending number in a list of
    // its own.
    if (out_.is(Encoding::kLatin1) && c.is_small() && c.small_value() < 0) return false;
    return stop(in_two_steps() ? cons(cons(c, Term::nil()), cell.tail()) : cell);
  }

  /// How many bytes the cut character needs in all.
  Word partial_needs() const {
    const auto lead = static_cast<std::uint8_t>(partial_[0]);
    switch (in_) {
      case Encoding::kUtf8: return lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : 4;
      case Encoding::kUtf16Big:
      case Encoding::kUtf16Little: return partial_.size() < 2 ? 2 : 4;
      default: return 4;
    }
  }

  /// Completes a cut character with bytes of b, *taken of them. kIncomplete: all were taken and it
  /// is cut still.
  Step join(const std::uint8_t* b, Word n, Word* taken) {
    for (;;) {
      const Word take = std::min(partial_needs() - partial_.size(), n - *taken);
      std::string joined = partial_ + std::string(reinterpret_cast<const char*>(b + *taken), take);
      std::uint32_t c;
      Word length;
      Step step =
          decode(in_, reinterpret_cast<const std::uint8_t*>(joined.data()), joined.size(), &c, &length);
      if (in_ == Encoding::kUtf32Little && joined.size() < 4) step = Step::kIncomplete;
      if (step == Step::kInvalid && in_two_steps()) {
        *taken += take;
        partial_ = std::move(joined);
        return step;
      }
      if (step == Step::kInvalid && *taken + take < n) return step;
      if (step == Step::kInvalid && joined.size() == partial_needs()) return step;
      *taken += take;
      partial_ = std::move(joined);
      if (step == Step::kInvalid) return step;
      if (step == Step::kCharacter) {
        if (!out_.put(c)) return Step::kInvalid;
        partial_.clear();
        return step;
      }
      if (*taken == n) return step;
    }
  }

  /// `cell`: whose head the binary is; kNonValue when it is itself a tail or the whole.
  bool binary(Term t, Term cell) {
    if (!is_binary(t) || !steps_.spend(bit_size_of(t) / 32)) return false;
    const BytesOf plain(t);
    const std::uint8_t* b = plain.data();
    const Word n = plain.size();
    const Term tail = cell ? cell.tail() : Term::nil();
    Word i = 0;
    if (!partial_.empty() && n > 0) {
      const Step step = join(b, n, &i);
      if (step == Step::kIncomplete) return true;
      if (step == Step::kInvalid && in_two_steps())  // the character in one piece, and the rest
        return stop(cons(text_binary(p_.heap, partial_), cons(make_binary(p_.heap, b + i, n - i), tail)));
      if (step == Step::kInvalid) return stop_at_partial(i > 0 ? tail : cell ? cell : t);
    }
    while (i < n) {
      if (in_ == Encoding::kUtf8 && b[i] < 0x80 && out_.takes_ascii()) {
        Word run = i + 1;
        while (run < n && b[run] < 0x80) ++run;
        out_.put_ascii(b + i, run - i);
        i = run;
        continue;
      }
      std::uint32_t c;
      Word length;
      const Step step = decode(in_, b + i, n - i, &c, &length);
      if (step == Step::kIncomplete) {
        partial_.assign(reinterpret_cast<const char*>(b + i), n - i);
        return true;
      }
      if (step == Step::kInvalid || !out_.put(c)) {
        const Term rest = make_binary(p_.heap, b + i, n - i);
        const bool is_alone = cell == whole_ && tail.is_nil() && out_.is(Encoding::kUtf8);
        return stop(cell && !(is_alone && in_ == Encoding::kUtf8) ? cons(rest, tail) : rest);
      }
      i += length;
    }
    return true;
  }

  Process& p_;
  Encoding in_;
  Output out_;
  std::vector<Term> tails_;
  std::string partial_;
  StepsHere steps_{unicode_loop_limit};
  bool failed_ = false;
  Term whole_, rest_;
};

/// `self`, with `arity` arguments, is the BIF at work.
Term convert(Process& p, const Term* a, unsigned arity, BifFn self, Term in, bool to_list, Term out) {
  const auto from = encoding_argument(in);
  std::optional<Encoding> to;
  if (!to_list) to = encoding_argument(out);
  if (!from || (!to_list && !to) || !(a[0].is_cons_or_nil() || is_binary(a[0]))) return raise_badarg(p);
  Converter converter(p, *from, to);
  const Term result = converter.run(a[0]);
  if (result) return result;
  return converter.used_up() ? run_elsewhere(p, self, a, arity) : raise_badarg(p);
}

}  // namespace

Term utf8_of_characters(Process& p, Term characters, bool* used_up) {
  Converter converter(p, Encoding::kUtf8, Encoding::kUtf8);
  const Term result = converter.run(characters);
  *used_up = converter.used_up();
  return result;
}

Term bif_unicode_characters_to_list_1(Process& p, const Term* a) {
  return convert(p, a, 1, bif_unicode_characters_to_list_1, intern_atom("utf8"), true, kNonValue);
}
Term bif_unicode_characters_to_list_2(Process& p, const Term* a) {
  return convert(p, a, 2, bif_unicode_characters_to_list_2, a[1], true, kNonValue);
}
Term bif_unicode_characters_to_binary_1(Process& p, const Term* a) {
  return convert(p, a, 1, bif_unicode_characters_to_binary_1, intern_atom("utf8"), false,
                 intern_atom("utf8"));
}
Term bif_unicode_characters_to_binary_2(Process& p, const Term* a) {
  return convert(p, a, 2, bif_unicode_characters_to_binary_2, a[1], false, intern_atom("utf8"));
}
Term bif_unicode_characters_to_binary_3(Process& p, const Term* a) {
  return convert(p, a, 3, bif_unicode_characters_to_binary_3, a[1], false, a[2]);
}

/// unicode:bin_is_7bit/1
Term bif_unicode_bin_is_7bit_1(Process& p, const Term* a) {
  if (!is_binary(a[0])) return atoms::false_;
  if (too_long(bit_size_of(a[0]) / 64)) return run_elsewhere(p, bif_unicode_bin_is_7bit_1, a, 1);
  const BytesOf bytes(a[0]);
  for (Word i = 0; i < bytes.size(); ++i) {
    if (bytes.data()[i] > 127) return atoms::false_;
  }
  return atoms::true_;
}

}  // namespace vmrun
