// SPDX-License-Identifier: Apache-2.0
#include "vm/term/print.hpp"

#include <algorithm>
#include <charconv>
#include <cinttypes>
#include <cstdio>
#include <cstring>
#include <type_traits>

#include "vm/base/utf8.hpp"
#include "vm/term/atom.hpp"
#include "vm/term/big.hpp"
#include "vm/term/bits.hpp"
#include "vm/term/fun.hpp"
#include "vm/term/layout.hpp"
#include "vm/term/native_record.hpp"
#include "vm/term/node.hpp"
#include "vm/term/pid_numbers.hpp"

namespace vmrun {
namespace {

using Sub = Term::Sub;

// ---- Destinations of text -----------------------------------------------------------------------

/// Collects a text of any length, up to a limit.
class StringText {
 public:
  StringText(std::string& out, std::size_t most) : out_(out), most_(most) {}
  void put(std::string_view text) {
    if (out_.size() + text.size() > most_) {
      full_ = true;
      return;
    }
    out_ += text;
  }
  void put(char c) { put(std::string_view(&c, 1)); }
  bool full() const { return full_; }

 private:
  std::string& out_;
  std::size_t most_;
  bool full_ = false;
};

/// Collects a text until so many terms and characters are in it. What comes then is left out.
class CountedText {
 public:
  CountedText(std::string& out, long limit) : out_(out), left_(limit) {}
  void put(std::string_view text) {
    if (!full_) out_ += text;
  }
  void put(char c) { put(std::string_view(&c, 1)); }
  bool full() const { return full_; }
  bool used_up() const { return left_ <= 0; }
  /// Before a term or character, or behind one: ends the text if nothing is left for one more.
  void count_one() { full_ = full_ || left_-- <= 0; }
  void count_atom(std::size_t bytes) {
    left_ -= static_cast<long>(bytes);
    full_ = full_ || used_up();
  }
  void count_name(std::size_t bytes) { left_ -= static_cast<long>(bytes); }

 private:
  std::string& out_;
  long left_;
  bool full_ = false;
};

// Other destinations count nothing.
template <class Out>
void count_one(Out& out) {
  if constexpr (requires { out.count_one(); }) out.count_one();
}
template <class Out>
void count_atom(Out& out, Term atom) {
  if constexpr (requires { out.count_atom(0); }) out.count_atom(atom_text(atom).size());
}
template <class Out>
void count_name(Out& out, Term atom) {
  if constexpr (requires { out.count_name(0); }) out.count_name(atom_text(atom).size());
}

template <class Out>
void put_number(Out& out, std::uint64_t n) {
  char digits[20];
  out.put(std::string_view(
      digits, static_cast<std::size_t>(std::to_chars(digits, digits + sizeof digits, n).ptr - digits)));
}
template <class Out>
void put_number(Out& out, std::int64_t n) {
  char digits[20];
  out.put(std::string_view(
      digits, static_cast<std::size_t>(std::to_chars(digits, digits + sizeof digits, n).ptr - digits)));
}

template <class Out>
void put_code_point(Out& out, unsigned c) {
  if constexpr (std::is_same_v<Out, CountedText>) return out.put(static_cast<char>(c));
  char bytes[utf8::kMostBytes];
  out.put(std::string_view(bytes, utf8::encode(c, bytes)));
}

// ---- Atoms --------------------------------------------------------------------------------------

constexpr std::string_view kReservedWords[] = {
    "after", "and",   "andalso", "band",   "begin",   "bnot", "bor", "bsl",  "bsr", "bxor",
    "case",  "catch", "cond",    "div",    "else",    "end",  "fun", "if",   "let", "maybe",
    "not",   "of",    "or",      "orelse", "receive", "rem",  "try", "when", "xor"};

bool is_lower(unsigned c) { return (c >= 'a' && c <= 'z') || (c >= 0xDF && c <= 0xFF && c != 0xF7); }
bool is_upper(unsigned c) { return (c >= 'A' && c <= 'Z') || (c >= 0xC0 && c <= 0xDE && c != 0xD7); }

/// Whether a text starts with a lower-case letter and continues with letters, digits, `_` and the
/// character `more`.
bool is_plain(std::string_view text, char more) {
  std::size_t i = 0;
  if (text.empty() || !is_lower(utf8::next(text, i))) return false;
  while (i < text.size()) {
    const unsigned c = utf8::next(text, i);
    if (!is_lower(c) && !is_upper(c) && !(c >= '0' && c <= '9') && c != '_' &&
        c != static_cast<unsigned>(more))
      return false;
  }
  return true;
}

/// Writes a character between quotes. `whole`: the bytes of code point c.
template <class Out>
void put_quoted_char(Out& out, std::string_view whole, unsigned c) {
  switch (c) {
    case '\'': return out.put("\\'");
    case '\\': return out.put("\\\\");
    case '\n': return out.put("\\n");
    case '\r': return out.put("\\r");
    case '\t': return out.put("\\t");
    case '\v': return out.put("\\v");
    case '\b': return out.put("\\b");
    case '\f': return out.put("\\f");
    default:
      if (c >= ' ' && !(c >= 0x80 && c < 0xA0)) return out.put(whole);
      char octal[8];
      std::snprintf(octal, sizeof octal, "\\%03o", c);
      out.put(octal);
  }
}

template <class Out>
void put_quoted(Out& out, std::string_view text) {
  out.put('\'');
  for (std::size_t i = 0; i < text.size();) {
    const std::size_t from = i;
    const unsigned c = utf8::next(text, i);
    put_quoted_char(out, text.substr(from, i - from), c);
  }
  out.put('\'');
}

/// Writes an atom as erlang:display does, which ignores reserved words.
template <class Out>
void put_atom(Out& out, Term atom) {
  const std::string_view text = atom_text(atom);
  if (is_plain(text, '_')) out.put(text);
  else put_quoted(out, text);
}

// ---- Identifiers --------------------------------------------------------------------------------

/// The first number in texts of identifiers. A node that had this node's name is not told apart.
Word node_number(const ExternalObject* other) {
  return !other || other->node->name == local_node_name() ? 0 : other->node->number();
}

template <class Out>
void put_ids(Out& out, std::string_view before, Term t) {
  const bool is_here = t.is_immed();
  const auto* other = is_here ? nullptr : reinterpret_cast<const ExternalObject*>(t.boxed_ptr());
  const Word number = is_here ? t.id_number() : other->data[0];
  out.put(before);
  put_number(out, std::uint64_t{node_number(other)});
  out.put('.');
  if (before == "<") {
    // Numbers of other nodes are printed unchanged.
    put_number(out, std::uint64_t{is_here ? pid_number(number) : number & UINT32_MAX});
    out.put('.');
    put_number(out, std::uint64_t{is_here ? pid_serial(number) : number >> 32});
  } else {
    put_number(out, std::uint64_t{number});
  }
  out.put('>');
}

template <class Out>
void put_ref(Out& out, Term t) {
  const bool local = t.is_local_ref();
  const auto* other = local ? nullptr : reinterpret_cast<const ExternalObject*>(t.boxed_ptr());
  const std::uint32_t* n = local ? local_ref_numbers(t) : reinterpret_cast<const std::uint32_t*>(other->data);
  out.put("#Ref<");
  put_number(out, std::uint64_t{node_number(other)});
  out.put('.');
  put_number(out, std::uint64_t{n[2]});
  out.put('.');
  put_number(out, std::uint64_t{n[1]});
  out.put('.');
  put_number(out, std::uint64_t{n[0]});
  out.put('>');
}

template <class Out>
void put_mfa(Out& out, Term module, Term function, unsigned arity) {
  put_atom(out, module);
  out.put(':');
  put_atom(out, function);
  out.put('/');
  put_number(out, std::uint64_t{arity});
}

template <class Out>
void put_fun(Out& out, Term t) {
  const FunObject* f = fun_of(t);
  if (f->is_external) {
    out.put("fun ");
    count_name(out, f->exported->module);
    count_name(out, f->exported->function);
    return put_mfa(out, f->exported->module, f->exported->function, f->exported->arity);
  }
  out.put("#Fun<");
  put_atom(out, f->entry->module);
  out.put('.');
  put_number(out, std::uint64_t{f->entry->index});
  out.put('.');
  put_number(out, std::uint64_t{f->entry->old_uniq});
  out.put('>');
}

// ---- Terms --------------------------------------------------------------------------------------

/// The nesting depth that is shown; deeper parts read `...`. It bounds the use of the stack.
constexpr int kMostDepth = 256;  // more than any probe can show

template <class Out>
class TermPrinter {
 public:
  explicit TermPrinter(Out& out) : out_(out) {}

  void term(Term t, int depth = 0) {
    count_one(out_);
    if (out_.full()) return;
    if (depth > kMostDepth) return out_.put("...");
    if (t.is_list()) return list(t, depth);
    if (t.is_small()) return put_number(out_, t.small_value());
    if (t.is_atom()) return put_atom(out_, t), count_atom(out_, t);
    if (t.is_nil()) return out_.put("[]");
    if (t.is_local_pid()) return put_ids(out_, "<", t);
    if (t.is_local_port()) return put_ids(out_, "#Port<", t);
    if (!t.is_boxed()) return special(t);
    boxed(t, depth);
  }

 private:
  void special(Term t) {  // only in dumps of stacks
    char text[40];
    std::snprintf(text, sizeof text, "#%s<%016" PRIx64 ">",
                  t.is_catch()   ? "Catch"
                  : t.is_value() ? "Code"
                                 : "None",
                  t.raw());
    out_.put(text);
  }

  void boxed(Term t, int depth) {
    switch (t.boxed_ptr()->header_sub()) {
      case Sub::kTuple: return tuple(t, depth);
      case Sub::kPosBig:
      case Sub::kNegBig: return big(t);
      case Sub::kRef:
      case Sub::kMagicRef:
      case Sub::kExternalRef: return put_ref(out_, t);
      case Sub::kFun: return put_fun(out_, t);
      case Sub::kFloat: {
        char text[400];
        std::snprintf(text, sizeof text, "%.6e", float_of(t)->value);
        return out_.put(text);
      }
      case Sub::kRefcBinary:
      case Sub::kHeapBinary:
      case Sub::kMatchContext:
      case Sub::kSubBinary: return bitstring(t);
      case Sub::kMap: return map(t, depth);
      case Sub::kExternalPid: return put_ids(out_, "<", t);
      case Sub::kExternalPort: return put_ids(out_, "#Port<", t);
      case Sub::kRecord: return record(t, depth);
    }
  }

  /// Prints exactly, without allocation, up to some hundred digits, which is more than any probe
  /// shows.
  void big(Term t) {
    const auto* b = reinterpret_cast<const BigObject*>(t.boxed_ptr());
    const Word count = b->header.header_arity();
    constexpr Word kMostLimbs = 48;
    if (count > kMostLimbs) {
      char text[64];
      std::snprintf(text, sizeof text, "#Integer<%" PRIu64 " bits>", count * 64);
      return out_.put(text);
    }
    Word limbs[kMostLimbs];
    std::memcpy(limbs, b->limbs, count * sizeof(Word));
    char digits[kMostLimbs * 20 + 1];
    char* next = digits + sizeof digits;
    for (Word left = count; left;) {  // schoolbook: 19 digits at a time
      constexpr Word kChunk = 10'000'000'000'000'000'000u;
      unsigned __int128 rest = 0;
      for (Word i = left; i-- > 0;) {
        rest = rest << 64 | limbs[i];
        limbs[i] = static_cast<Word>(rest / kChunk);
        rest %= kChunk;
      }
      while (left && limbs[left - 1] == 0) --left;
      auto chunk = static_cast<Word>(rest);
      for (int i = 0; i < 19 && (left || chunk); ++i, chunk /= 10)
        *--next = static_cast<char>('0' + chunk % 10);
    }
    if (b->header.header_sub() == Sub::kNegBig) *--next = '-';
    out_.put(std::string_view(next, static_cast<std::size_t>(digits + sizeof digits - next)));
  }

  void tuple(Term t, int depth) {
    out_.put('{');
    for (Word i = 0; i < t.tuple_arity() && !out_.full(); ++i) {
      if (i) out_.put(',');
      term(t.element(i), depth + 1);
    }
    out_.put('}');
  }

  static bool is_text_byte(SWord c) {
    return (c >= 32 && c <= 255 && !(c >= 127 && c <= 159)) || c == '\n' || c == '\t' || c == '\r';
  }

  static bool is_text(Term t) {
    for (; t.is_list(); t = t.tail()) {
      if (!t.head().is_small() || !is_text_byte(t.head().small_value())) return false;
    }
    return t.is_nil();
  }

  void text_char(unsigned c) {
    if (c == '"') return out_.put("\\\"");
    if (c == '\n') return out_.put("\\n");
    put_code_point(out_, c);
  }

  void list(Term t, int depth) {
    if (is_text(t)) {
      out_.put('"');
      for (; t.is_list() && !out_.full(); t = t.tail()) {
        count_one(out_);
        text_char(static_cast<unsigned>(t.head().small_value()));
      }
      return out_.put('"');
    }
    out_.put('[');
    for (;;) {
      term(t.head(), depth + 1);
      t = t.tail();
      if (!t.is_list() || out_.full()) break;
      out_.put(',');
    }
    if (!t.is_list() && !t.is_nil()) {
      out_.put('|');
      term(t, depth + 1);
    }
    out_.put(']');
  }

  void bitstring(Term t) {
    const BitView v = bits_of(t);
    const auto byte = [&](Word i, unsigned bits = 8) {
      std::uint8_t b = 0;
      copy_bits(&b, 8 - bits, v.base, v.offset_bits + i * 8, bits);
      return b;
    };
    const Word whole = v.size_bits / 8;
    const auto odd = static_cast<unsigned>(v.size_bits % 8);
    bool text = odd == 0 && whole > 0;
    for (Word i = 0; i < whole && text; ++i) text = byte(i) >= 32 && byte(i) < 127;
    out_.put(text ? "<<\"" : "<<");
    for (Word i = 0; i < whole && !out_.full(); ++i) {
      if (text) {
        text_char(byte(i));
      } else {
        if (i) out_.put(',');
        put_number(out_, std::uint64_t{byte(i)});
      }
      count_one(out_);
    }
    if (odd) {
      if (whole) out_.put(',');
      put_number(out_, std::uint64_t{byte(whole, odd)});
      out_.put(':');
      put_number(out_, std::uint64_t{odd});
    }
    out_.put(text ? "\">>" : ">>");
  }

  void pair(Term key, Term value, bool& first, int depth) {
    if (!first) out_.put(',');
    first = false;
    term(key, depth + 1);
    out_.put("=>");
    term(value, depth + 1);
  }

  /// Prints the leaves of a trie in the order they lie in. Tries are at most some dozen levels
  /// deep.
  void trie(const Term* node, bool& first, int depth) {
    const Term header = *node;
    const Term* end = node + object_words(header);
    for (const Term* p = node + (map_kind(header) == MapKind::kHashNode ? 1 : 2); p < end && !out_.full();
         ++p) {
      if (p->is_list()) {
        pair(p->head(), p->tail(), first, depth);
      } else {
        trie(p->boxed_ptr(), first, depth);
      }
    }
  }

  void map(Term t, int depth) {
    bool first = true;
    out_.put("#{");
    if (map_kind(*t.boxed_ptr()) == MapKind::kFlat) {
      const FlatMap* m = flatmap_of(t);
      for (Word i = 0; i < m->size && !out_.full(); ++i)
        pair(m->keys.element(i), m->values()[i], first, depth);
    } else {
      trie(t.boxed_ptr(), first, depth);
    }
    out_.put('}');
  }

  void record(Term t, int depth) {
    const RecordDefinition d = definition_of(t);
    out_.put('#');
    put_atom(out_, d.module());
    out_.put(':');
    put_atom(out_, d.name());
    out_.put('{');
    for (Word i = 0; i < d.field_count() && !out_.full(); ++i) {
      if (i) out_.put(',');
      term(d.field(i), depth + 1);
      out_.put('=');
      term(record_values(t)[i], depth + 1);
    }
    out_.put('}');
  }

  Out& out_;
};

template <class F>
std::string text_of(F&& put) {
  std::string text;
  StringText out(text, std::string::npos);
  put(out);
  return text;
}

}  // namespace

void BoundedText::put(std::string_view text) {
  if (full_) return;
  std::size_t count = std::min(text.size(), static_cast<std::size_t>(end_ - next_));
  if (count < text.size()) {
    full_ = true;
    // The byte behind the cut shows whether the cut is inside a sequence.
    while (count && utf8::is_continuation(static_cast<unsigned char>(text[count]))) --count;
  }
  std::memcpy(next_, text.data(), count);
  next_ += count;
  *next_ = 0;
}

bool atom_needs_quotes(std::string_view text) {
  return !is_plain(text, '@') ||
         std::binary_search(std::begin(kReservedWords), std::end(kReservedWords), text);
}

void print_pid(BoundedText& out, Term pid) { put_ids(out, "<", pid); }
void print_port(BoundedText& out, Term port) { put_ids(out, "#Port<", port); }
void print_mfa(BoundedText& out, Term module, Term function, unsigned arity) {
  put_mfa(out, module, function, arity);
}
void print_term(BoundedText& out, Term t) { TermPrinter(out).term(t); }

void append_atom_text(std::string& out, Term atom) {
  StringText text(out, std::string::npos);
  if (atom_needs_quotes(atom_text(atom))) put_quoted(text, atom_text(atom));
  else text.put(atom_text(atom));
}
std::string pid_text(Term pid) {
  return text_of([=](StringText& out) { put_ids(out, "<", pid); });
}
std::string port_text(Term port) {
  return text_of([=](StringText& out) { put_ids(out, "#Port<", port); });
}
std::string ref_text(Term ref) {
  return text_of([=](StringText& out) { put_ref(out, ref); });
}
std::string fun_text(Term fun) {
  return text_of([=](StringText& out) { put_fun(out, fun); });
}

std::string term_text(Term t, std::size_t most_bytes) {
  std::string text;
  StringText out(text, most_bytes);
  TermPrinter(out).term(t);
  if (out.full()) text += "...";
  return text;
}

std::string term_text_of_limit(Term t, long limit) {
  std::string text;
  CountedText out(text, limit);
  TermPrinter(out).term(t);
  if (out.used_up()) text += "... ";
  return text;
}

void append_utf8(std::string& out, char32_t c) { utf8::append(out, c); }

}  // namespace vmrun
