// SPDX-License-Identifier: Apache-2.0
#include "runtime/compile/emit/term_source.hpp"

#include "vm/term/bits.hpp"
#include "vm/term/layout.hpp"
#include "vm/term/map.hpp"
#include "vm/term/number_text.hpp"
#include "vm/term/print.hpp"

namespace vmrun::compile {

namespace {

void append_list(std::string& out, Term t) {
  bool text = true;
  Term end = t;
  for (; end.is_list(); end = end.tail())
    text &= end.head().is_small() && end.head().small_value() >= 32 && end.head().small_value() < 127;
  text &= end.is_nil();
  out += text ? "\"" : "[";
  for (const Term first = t; t.is_list(); t = t.tail()) {
    if (text) {
      const char c = static_cast<char>(t.head().small_value());
      if (c == '"' || c == '\\') out += '\\';
      out += c;
      continue;
    }
    if (!(t == first)) out += ",";
    append_term_source(out, t.head());
  }
  if (!t.is_nil()) out += "|", append_term_source(out, t);
  out += text ? "\"" : "]";
}

void append_map(std::string& out, Term t) {
  out += "#{";
  const char* comma = "";
  MapIterator pairs(t);
  for (Term key, value; pairs.next(&key, &value); comma = ",") {
    out += comma;
    append_term_source(out, key);
    out += " => ";
    append_term_source(out, value);
  }
  out += "}";
}

void append_bits(std::string& out, Term t) {
  const BytesOf bytes(t);
  const Word whole = bit_size_of(t) / 8, rest = bit_size_of(t) % 8;
  out += "<<";
  for (Word i = 0; i < whole; ++i) out += (i > 0 ? "," : "") + std::to_string(bytes.data()[i]);
  if (rest > 0) {
    out += (whole > 0 ? "," : "") + std::to_string(bytes.data()[whole] >> (8 - rest)) + ":" +
           std::to_string(rest);
  }
  out += ">>";
}

}  // namespace

std::string atom_source(Term atom) {
  std::string s;
  append_atom_text(s, atom);
  return s;
}

void append_term_source(std::string& out, Term t) {
  if (t.is_atom()) {
    out += atom_source(t);
  } else if (t.is_list()) {
    append_list(out, t);
  } else if (t.is_tuple()) {
    out += "{";
    for (Word i = 0; i < t.tuple_arity(); ++i) {
      if (i > 0) out += ",";
      append_term_source(out, t.element(i));
    }
    out += "}";
  } else if (t.is_map()) {
    append_map(out, t);
  } else if (t.is_bitstring()) {
    append_bits(out, t);
  } else if (t.is_float()) {
    out += float_text_short(float_of(t)->value);
  } else {
    out += term_text(t, std::size_t{1} << 30);
  }
}

}  // namespace vmrun::compile
