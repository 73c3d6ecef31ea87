// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "runtime/bif/reduction_budget.hpp"
#include "runtime/bif/support.hpp"
#include "vm/base/small_limits.hpp"
#include "vm/term/big.hpp"
#include "vm/term/bits.hpp"
#include "vm/term/number_text.hpp"

/// Numbers to and from lists and binaries of their digits.
namespace vmrun {
namespace {

bool base_argument(Term t, unsigned* base) {
  SWord b;
  if (!small_in_range(t, 2, 36, &b)) return false;
  *base = static_cast<unsigned>(b);
  return true;
}

/// Converting takes more than linear time.
constexpr Word kLongInteger = usual_or_small<Word>(500, 5),
               kLongDigits = usual_or_small<Word>(5000, 50);  // words; digits

/// Reads the digits of a flat list or a binary. Returns false when the term is neither, or too long
/// for a scheduler (*too_many).
bool number_text(Term t, bool binary, std::string* out, bool* too_many) {
  if (!binary) {
    SWord left = kLongDigits;
    for (; t.is_list(); t = t.tail()) {
      SWord c;
      if (!small_in_range(t.head(), 0, 255, &c)) return false;
      if (--left < 0) [[unlikely]] {
        if (dirty_thread_kind() == DirtyKind::kNone) return *too_many = true, false;
        left = INT64_MAX;
      }
      *out += static_cast<char>(c);
    }
    return t.is_nil();
  }
  if (!is_binary(t)) return false;
  const BytesOf bytes(t);
  if (bytes.size() > kLongDigits && dirty_thread_kind() == DirtyKind::kNone) return *too_many = true, false;
  out->assign(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  return true;
}

Term text_result(Process& p, std::string_view text, bool binary) {
  charge(p, static_cast<SWord>(text.size()));
  return binary ? text_binary(p.heap, text) : text_list(p.heap, text);
}

bool long_integer(Term n) { return n.is_big() && n.boxed_ptr()->header_arity() > kLongInteger; }

/// Converts an integer to digits. `self`, with `arity` arguments, is the built-in function that
/// runs, here and below.
Term integer_out(Process& p, const Term* a, unsigned arity, BifFn self, bool binary) {
  unsigned base = 10;
  if (!a[0].is_integer() || (arity == 2 && !base_argument(a[1], &base))) return raise_badarg(p);
  if (long_integer(a[0]) && dirty_thread_kind() == DirtyKind::kNone) return run_on_dirty(p, self, a, arity);
  return text_result(p, integer_to_text(a[0], base), binary);
}

Term integer_in(Process& p, const Term* a, unsigned arity, BifFn self, bool binary) {
  unsigned base = 10;
  std::string text;
  bool too_big, too_many = false;
  if (arity == 2 && !base_argument(a[1], &base)) return raise_badarg(p);
  if (!number_text(a[0], binary, &text, &too_many))
    return too_many ? run_on_dirty(p, self, a, arity) : raise_badarg(p);
  charge(p, static_cast<SWord>(text.size()));
  const Term n = integer_from_text(p.heap, text, base, &too_big);
  if (n) return n;
  return too_big ? raise_system_limit(p) : raise_badarg(p);
}

Term float_in(Process& p, const Term* a, BifFn self, bool binary) {
  std::string text;
  double d;
  bool too_many = false;
  if (!number_text(a[0], binary, &text, &too_many))
    return too_many ? run_on_dirty(p, self, a, 1) : raise_badarg(p);
  charge(p, static_cast<SWord>(text.size()));
  text.resize(std::min(text.size(), text.find('\0')));  // as in C, where term_to_binary's old floats are from
  std::ranges::replace(text, ',', '.');                 // the decimal sign of others
  if (!parse_float(text, &d)) return raise_badarg(p);
  Term* hp = p.heap.alloc(2);
  return make_float(hp, d);
}

Term float_out(Process& p, Term f, Term options, bool binary) {
  enum { kScientific, kDecimals, kShort } notation = kScientific;
  SWord decimals = 20;
  bool compact = false;
  if (!f.is_float()) return raise_badarg(p);
  for (; options.is_list(); options = options.tail()) {
    const Term o = options.head();
    if (o == intern_atom("compact")) {
      compact = true;
    } else if (o == intern_atom("short")) {
      notation = kShort;
    } else if (o.is_tuple() && o.tuple_arity() == 2 && o.element(0) == intern_atom("decimals") &&
               small_in_range(o.element(1), 0, 253, &decimals)) {
      notation = kDecimals;
    } else if (o.is_tuple() && o.tuple_arity() == 2 && o.element(0) == intern_atom("scientific") &&
               small_in_range(o.element(1), 0, 249, &decimals)) {
      notation = kScientific;
    } else {
      return raise_badarg(p);
    }
  }
  if (!options.is_nil()) return raise_badarg(p);
  const double d = float_of(f)->value;
  const auto places = static_cast<int>(decimals);
  const std::string text = notation == kShort      ? float_text_short(d)
                           : notation == kDecimals ? float_text_decimals(d, places, compact)
                                                   : float_text_scientific(d, places);
  return text.empty() ? raise_badarg(p) : text_result(p, text, binary);
}

}  // namespace

Term bif_erlang_integer_to_list_1(Process& p, const Term* a) {
  return integer_out(p, a, 1, bif_erlang_integer_to_list_1, false);
}
Term bif_erlang_integer_to_list_2(Process& p, const Term* a) {
  return integer_out(p, a, 2, bif_erlang_integer_to_list_2, false);
}
Term bif_erlang_integer_to_binary_1(Process& p, const Term* a) {
  return integer_out(p, a, 1, bif_erlang_integer_to_binary_1, true);
}
Term bif_erlang_integer_to_binary_2(Process& p, const Term* a) {
  return integer_out(p, a, 2, bif_erlang_integer_to_binary_2, true);
}
Term bif_erlang_list_to_integer_1(Process& p, const Term* a) {
  return integer_in(p, a, 1, bif_erlang_list_to_integer_1, false);
}
Term bif_erlang_list_to_integer_2(Process& p, const Term* a) {
  return integer_in(p, a, 2, bif_erlang_list_to_integer_2, false);
}
Term bif_erlang_binary_to_integer_1(Process& p, const Term* a) {
  return integer_in(p, a, 1, bif_erlang_binary_to_integer_1, true);
}
Term bif_erlang_binary_to_integer_2(Process& p, const Term* a) {
  return integer_in(p, a, 2, bif_erlang_binary_to_integer_2, true);
}

// Since OTP 26 the functions of module erlang are written in Erlang over these two, which leave
// integers of very many digits to it.

namespace {

const Term& big_number() {
  static const Term big = intern_atom("big");
  return big;
}

bool is_digit_of(SWord c, unsigned base) {
  const SWord digit = c >= '0' && c <= '9'   ? c - '0'
                      : c >= 'a' && c <= 'z' ? c - 'a' + 10
                      : c >= 'A' && c <= 'Z' ? c - 'A' + 10
                                             : 36;
  return digit < static_cast<SWord>(base);
}

}  // namespace

/// (Binary, Base): returns an integer, big or badarg.
Term bif_erts_internal_binary_to_integer_2(Process& p, const Term* a) {
  unsigned base;
  if (!base_argument(a[1], &base) || !is_binary(a[0])) return atoms::badarg;
  const BytesOf bytes(a[0]);
  if (bytes.size() > kLongDigits) return big_number();
  charge(p, static_cast<SWord>(bytes.size()));
  const std::string text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  const Term n = integer_from_text(p.heap, text, base);
  return n ? n : atoms::badarg;
}

/// (List, Base): returns {Integer, Rest}, big, no_integer, not_a_list or badarg.
Term bif_erts_internal_list_to_integer_2(Process& p, const Term* a) {
  static const Term no_integer = intern_atom("no_integer");
  unsigned base;
  if (a[0].is_nil()) return no_integer;
  if (!a[0].is_list()) return intern_atom("not_a_list");
  if (!base_argument(a[1], &base)) return atoms::badarg;
  std::string text;
  Term list = a[0];
  SWord c;
  if (list.head() == Term::small('-') || list.head() == Term::small('+')) {
    text += static_cast<char>(list.head().small_value());
    list = list.tail();
  }
  const std::size_t sign = text.size();
  for (; list.is_list() && small_in_range(list.head(), 0, 255, &c) && is_digit_of(c, base);
       list = list.tail()) {
    if (text.size() > kLongDigits) return big_number();
    text += static_cast<char>(c);
  }
  if (text.size() == sign) return no_integer;
  charge(p, static_cast<SWord>(text.size()));
  return new_tuple(p.heap, integer_from_text(p.heap, text, base), list);
}

Term bif_erlang_list_to_float_1(Process& p, const Term* a) {
  return float_in(p, a, bif_erlang_list_to_float_1, false);
}
Term bif_erlang_binary_to_float_1(Process& p, const Term* a) {
  return float_in(p, a, bif_erlang_binary_to_float_1, true);
}
Term bif_erlang_float_to_list_1(Process& p, const Term* a) { return float_out(p, a[0], Term::nil(), false); }
Term bif_erlang_float_to_list_2(Process& p, const Term* a) { return float_out(p, a[0], a[1], false); }
Term bif_erlang_float_to_binary_1(Process& p, const Term* a) { return float_out(p, a[0], Term::nil(), true); }
Term bif_erlang_float_to_binary_2(Process& p, const Term* a) { return float_out(p, a[0], a[1], true); }

/// string:list_to_integer/1: {Integer, Rest} or {error, no_integer | not_a_list | system_limit}.
Term bif_string_list_to_integer_1(Process& p, const Term* a) {
  if (!a[0].is_cons_or_nil()) return new_tuple(p.heap, atoms::error, intern_atom("not_a_list"));
  std::string text;
  Term list = a[0];
  SWord c;
  if (list.is_list() && list.head().is_small() &&
      (list.head().small_value() == '-' || list.head().small_value() == '+')) {
    text += static_cast<char>(list.head().small_value());
    list = list.tail();
  }
  const std::size_t sign = text.size();
  for (; list.is_list() && small_in_range(list.head(), '0', '9', &c); list = list.tail())
    text += static_cast<char>(c);
  if (text.size() == sign) return new_tuple(p.heap, atoms::error, intern_atom("no_integer"));
  const Term n = integer_from_text(p.heap, text, 10);
  if (n) return new_tuple(p.heap, n, list);
  return release_has(Trait::kIntegerLimitReturned) ? new_tuple(p.heap, atoms::error, atoms::system_limit)
                                                   : raise_system_limit(p);
}

/// string:list_to_float/1: {Float, Rest} or {error, no_float | not_a_list}. A comma counts as a
/// point.
Term bif_string_list_to_float_1(Process& p, const Term* a) {
  if (!a[0].is_cons_or_nil()) return new_tuple(p.heap, atoms::error, intern_atom("not_a_list"));
  std::string text;
  SWord c;
  for (Term list = a[0]; list.is_list() && small_in_range(list.head(), 0, 127, &c); list = list.tail())
    text += c == ',' ? '.' : static_cast<char>(c);
  text.resize(float_prefix_length(text));
  double d;
  if (text.empty() || !parse_float(text, &d)) return new_tuple(p.heap, atoms::error, intern_atom("no_float"));
  Term rest = a[0];
  for (std::size_t i = 0; i < text.size(); ++i) rest = rest.tail();
  Term* hp = p.heap.alloc(2);
  return new_tuple(p.heap, make_float(hp, d), rest);
}

}  // namespace vmrun
