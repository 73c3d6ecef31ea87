// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "runtime/bif/internal_state.hpp"
#include "runtime/bif/reduction_budget.hpp"
#include "runtime/bif/support.hpp"
#include "runtime/bif/unicode.hpp"
#include "vm/base/utf8.hpp"
#include "vm/term/bits_fields.hpp"
#include "vm/term/compare.hpp"

/// unicode:characters_to_list and characters_to_binary: convert deep lists of code points and
/// binaries between encodings. A character may be cut by the end of a binary and continue in the
/// next one.
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

/// Returns the number of bytes of a character that begins with `lead`, or 0 when none does.
Word utf8_length(std::uint8_t lead) {
  return lead < 0xC0 ? 0 : lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : lead < 0xF8 ? 4 : 0;
}

using utf8::Decoded;

Decoded decode_utf16(bool big, const std::uint8_t* b, Word n) {
  const auto unit = [&](Word at) -> std::uint32_t {
    return big ? static_cast<std::uint32_t>(b[at]) << 8 | b[at + 1]
               : static_cast<std::uint32_t>(b[at + 1]) << 8 | b[at];
  };
  if (n < 2) return {};
  const std::uint32_t high = unit(0);
  if (high < 0xD800 || high > 0xDFFF) return {high, 2};
  if (high > 0xDBFF || n < 4) return {};
  const std::uint32_t low = unit(2);
  if (low < 0xDC00 || low > 0xDFFF) return {};
  return {0x10000 + ((high - 0xD800) << 10 | (low - 0xDC00)), 4};
}

Decoded decode_utf32(bool big, const std::uint8_t* b, Word n) {
  if (n < 4) return {};
  std::uint32_t w;
  std::memcpy(&w, b, 4);
  if (big) w = __builtin_bswap32(w);
  return utf8::is_scalar(w) ? Decoded{w, 4} : Decoded{};
}

/// Decodes the character at the start of n > 0 bytes.
Decoded decode(Encoding e, const std::uint8_t* b, Word n) {
  switch (e) {
    case Encoding::kLatin1: return {b[0], 1};
    case Encoding::kUtf8: return utf8::decode(b, n);
    case Encoding::kUtf16Big:
    case Encoding::kUtf16Little: return decode_utf16(e == Encoding::kUtf16Big, b, n);
    default: return decode_utf32(e == Encoding::kUtf32Big, b, n);
  }
}

/// Whether n bytes, too few for a character, can still become one, judged by their form alone.
bool utf8_possible(const std::uint8_t* b, Word n) { return std::all_of(b + 1, b + n, utf8::is_continuation); }

Word utf16_missing(bool big, const std::uint8_t* b, Word n) {
  const auto is_high = [](std::uint8_t c) { return c >= 0xD8 && c <= 0xDB; };
  const auto is_low = [](std::uint8_t c) { return c >= 0xDC && c <= 0xDF; };
  if (n == 1) return !big ? 1 : is_low(b[0]) ? 0 : is_high(b[0]) ? 3 : 1;
  if (!is_high(b[big ? 0 : 1])) return 0;
  return n == 2 ? 2 : !big || is_low(b[2]) ? 1 : 0;
}

Word utf32_missing(bool big, const std::uint8_t* b, Word n) {
  const auto top = big ? b[0] : 0, plane = n < 2 ? 0 : big ? b[1] : n < 3 ? 0 : b[2];
  if (top != 0 || plane > 0x10) return 0;
  if (n < 3) return 4 - n;
  const auto high = big ? b[2] : b[1];
  if (plane == 0 && high >= 0xD8 && high <= 0xDF) return 0;
  // U+FFFE and U+FFFF are refused only in this byte order.
  return !big && plane == 0 && high == 0xFF && b[0] >= 0xFE ? 0 : 1;
}

/// Returns how many bytes are missing behind n > 0 bytes of an incomplete character, as far as they
/// tell; 0 when they cannot become a character.
Word missing_bytes(Encoding e, const std::uint8_t* b, Word n) {
  if (n > 3) return 0;
  switch (e) {
    case Encoding::kLatin1: return 0;
    case Encoding::kUtf8: {
      const Word need = utf8_length(b[0]);
      return need > n && utf8_possible(b, n) ? need - n : 0;
    }
    case Encoding::kUtf16Big:
    case Encoding::kUtf16Little: return utf16_missing(e == Encoding::kUtf16Big, b, n);
    default: return utf32_missing(e == Encoding::kUtf32Big, b, n);
  }
}

/// The output: a list of code points, or the bytes of a binary. Functions return false when the
/// encoding does not have the character.
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
  /// Whether a run of ASCII can be copied, because the output is a superset of it.
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

/// OTP has two algorithms. They accept the same characters; after a failure the remaining data have
/// different shapes. The *direct* algorithm converts UTF-8 and Latin-1 to UTF-8 or to a list. Every
/// other conversion is done *in parts*: a binary is divided into pieces of at most 8192 bytes, and
/// a cut character becomes a piece of its own.
class Converter {
 public:
  Converter(Process& p, Encoding in, std::optional<Encoding> out)
      : p_(p),
        in_(in),
        out_(p.heap, out),
        in_parts_(out_.second_step() || (in != Encoding::kUtf8 && in != Encoding::kLatin1)) {}

  /// Returns the non-value when the term is not text, or when the steps are used up.
  Term run(Term data) {
    if (!in_parts_ && out_.is(Encoding::kUtf8) && data.is_list() && is_binary(data.head()) &&
        data.tail().is_nil())
      data = data.head();
    if (!walk(data))
      return failed_ && (in_parts_ || is_text(data)) ? failure(atoms::error, rest_) : kNonValue;
    charge(p_, steps_.spent());
    if (!partial_.empty()) {
      const bool possible = in_parts_ || utf8_possible(bytes_of(partial_), partial_.size());
      return failure(possible ? intern_atom("incomplete") : atoms::error, text_binary(p_.heap, partial_));
    }
    return out_.finish(p_.heap);
  }
  bool used_up() const { return steps_.used_up(); }

 private:
  static constexpr Word kPartBytes = 8192;

  static const std::uint8_t* bytes_of(const std::string& s) {
    return reinterpret_cast<const std::uint8_t*>(s.data());
  }
  Term failure(Term kind, Term rest) { return new_tuple(p_.heap, kind, out_.finish(p_.heap), rest); }
  Term cons(Term head, Term tail) {
    Term* hp = p_.heap.alloc(2);
    return make_cons(hp, head, tail);
  }
  /// Whether the data consist of binaries, integers and lists of them. The direct algorithm checks
  /// all data before it converts, up to the first big integer.
  bool is_text(Term t) {
    std::vector<Term> lists;
    for (;;) {
      while (t.is_list()) {
        if (!steps_.spend(1)) [[unlikely]]
          return false;
        const Term head = t.head();
        if (head.is_big()) return true;
        if (head.is_list()) {
          lists.push_back(t.tail());
          t = head;
          continue;
        }
        if (!head.is_nil() && !head.is_small() && !is_binary(head)) return false;
        t = t.tail();
      }
      if (!t.is_nil() && !is_binary(t)) return false;
      if (lists.empty()) return true;
      t = lists.back();
      lists.pop_back();
    }
  }
  /// Stops the conversion: `rest` is what remains at this depth; the surrounding lists follow it.
  bool stop(Term rest) {
    for (; !tails_.empty(); tails_.pop_back()) rest = cons(rest, tails_.back());
    rest_ = rest;
    failed_ = true;
    return false;
  }
  /// Stops because a cut character does not continue in the remaining data.
  bool stop_at_partial(Term remaining) {
    const Term cut = text_binary(p_.heap, partial_);
    if (in_parts_) return stop(cons(cut, remaining));
    stop(remaining);
    rest_ = cons(cut, cons(rest_, Term::nil()));
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
    if (!in_parts_) return stop(cell);
    if (out_.is(Encoding::kLatin1) && is_negative(c)) return false;
    return stop(cons(cons(c, Term::nil()), cell.tail()));
  }
  static bool is_negative(Term c) {
    return c.is_small() ? c.small_value() < 0 : compare(c, Term::small(0)) < 0;
  }

  /// `cell`: the list cell whose head the binary is; kNonValue when it is a tail or the whole term.
  bool binary(Term t, Term cell) {
    if (!is_binary(t) || !steps_.spend(bit_size_of(t) / 32)) return false;
    const BytesOf plain(t);
    if (!in_parts_) return directly(t, cell, plain.data(), plain.size());
    return cell ? element(plain.data(), plain.size(), cell.tail()) : last(t, plain.data(), plain.size());
  }

  /// Outputs the characters at the front of n bytes. Returns how many bytes they are.
  Word put_characters(const std::uint8_t* b, Word n) {
    for (Word i = 0; i < n;) {
      if (in_ == Encoding::kUtf8 && b[i] < 0x80 && out_.takes_ascii()) {
        Word run = i + 1;
        while (run < n && b[run] < 0x80) ++run;
        out_.put_ascii(b + i, run - i);
        i = run;
        continue;
      }
      const Decoded c = decode(in_, b + i, n - i);
      if (c.size == 0 || !out_.put(c.value)) return i;
      i += c.size;
    }
    return n;
  }

  bool directly(Term t, Term cell, const std::uint8_t* b, Word n) {
    Word i = 0;
    if (!partial_.empty()) {
      const Word lacks = utf8_length(static_cast<std::uint8_t>(partial_[0])) - partial_.size();
      std::string joined = partial_ + std::string(reinterpret_cast<const char*>(b), std::min(lacks, n));
      if (n < lacks) {
        partial_ = std::move(joined);
        return true;
      }
      if (put_characters(bytes_of(joined), joined.size()) < joined.size())
        return stop_at_partial(cell ? cell : t);
      partial_.clear();
      i = lacks;
    }
    i += put_characters(b + i, n - i);
    if (i == n) return true;
    if (n - i < utf8_length(b[i])) {
      partial_.assign(reinterpret_cast<const char*>(b + i), n - i);
      return true;
    }
    const Term rest = make_binary(p_.heap, b + i, n - i);
    return stop(cell ? cons(rest, cell.tail()) : rest);
  }

  enum class Part { kDone, kInvalid, kNoText };

  /// Converts one piece. A cut character at the end becomes partial_; *good bytes were converted.
  Part part(const std::uint8_t* b, Word n, Word* good) {
    *good = put_characters(b, n);
    if (*good == n) return Part::kDone;
    if (decode(in_, b + *good, n - *good).size) return Part::kInvalid;  // out_ lacks it
    missing_ = missing_bytes(in_, b + *good, n - *good);
    if (missing_ == 0) return Part::kInvalid;
    // OTP raises badarg here, because its function for this pair has no clause for a cut end.
    const bool from_utf32 = in_ == Encoding::kUtf32Big || in_ == Encoding::kUtf32Little;
    if (*good > 0 && from_utf32 && out_.is(Encoding::kLatin1)) return Part::kNoText;
    partial_.assign(reinterpret_cast<const char*>(b + *good), n - *good);
    return Part::kDone;
  }

  /// Converts a binary that is an element of a list; `tail` is the rest of the list.
  bool element(const std::uint8_t* b, Word n, Term tail) {
    for (Word i = 0; i < n;) {
      std::string joined;
      const std::uint8_t* from = b + i;
      Word size = std::min(n - i, kPartBytes);
      if (!partial_.empty()) {
        const Word take = std::min(missing_, n - i);
        partial_.append(reinterpret_cast<const char*>(from), take);
        missing_ -= take;
        i += take;
        if (missing_ > 0) return true;
        joined.swap(partial_);
        from = bytes_of(joined);
        size = joined.size();
      } else {
        i += size;
      }
      Word good;
      const Part result = part(from, size, &good);
      if (result == Part::kNoText) return false;
      if (result == Part::kDone) continue;
      if (i < n || !joined.empty()) tail = cons(make_binary(p_.heap, b + i, n - i), tail);
      return stop(cons(make_binary(p_.heap, from + good, size - good), tail));
    }
    return true;
  }

  /// Converts a binary that is the tail of a list, or the whole data.
  bool last(Term t, const std::uint8_t* b, Word n) {
    if (!partial_.empty() && n >= missing_) {  // the cut character is now complete
      const std::string cut = std::exchange(partial_, {});
      Word good;
      if (part(bytes_of(cut), cut.size(), &good) == Part::kInvalid)
        return stop(cons(text_binary(p_.heap, cut), cons(t, Term::nil())));
      return element(b, n, Term::nil());
    }
    if (!partial_.empty() || n > kPartBytes) return element(b, n, Term::nil());
    Word good;
    const Part result = part(b, n, &good);
    return result == Part::kDone ||
           (result == Part::kInvalid && stop(make_binary(p_.heap, b + good, n - good)));
  }

  Process& p_;
  Encoding in_;
  Output out_;
  bool in_parts_;
  std::vector<Term> tails_;
  std::string partial_;  // the cut character
  Word missing_ = 0;     // bytes after it, in parts
  ReductionBudget steps_{unicode_loop_limit};
  bool failed_ = false;
  Term rest_;
};

/// `self`, with `arity` arguments, is the built-in function that runs.
Term convert(Process& p, const Term* a, unsigned arity, BifFn self, Term in, bool to_list, Term out) {
  const auto from = encoding_argument(in);
  std::optional<Encoding> to;
  if (!to_list) to = encoding_argument(out);
  if (!from || (!to_list && !to) || !(a[0].is_cons_or_nil() || is_binary(a[0]))) return raise_badarg(p);
  Converter converter(p, *from, to);
  const Term result = converter.run(a[0]);
  if (result) return result;
  return converter.used_up() ? run_on_dirty(p, self, a, arity) : raise_badarg(p);
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
  if (too_long(bit_size_of(a[0]) / 64)) return run_on_dirty(p, bif_unicode_bin_is_7bit_1, a, 1);
  const BytesOf bytes(a[0]);
  for (Word i = 0; i < bytes.size(); ++i) {
    if (bytes.data()[i] > 127) return atoms::false_;
  }
  return atoms::true_;
}

}  // namespace vmrun
