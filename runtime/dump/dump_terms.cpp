// SPDX-License-Identifier: Apache-2.0
#include "runtime/dump/dump_terms.hpp"

#include <algorithm>

#include "vm/term/atom.hpp"
#include "vm/term/bits.hpp"
#include "vm/term/external.hpp"
#include "vm/term/layout.hpp"
#include "vm/term/print.hpp"

namespace vmrun::dump {
namespace {

constexpr Word kInPlaceBytes = 64;  // binaries up to this size are written in place

std::string base64(const std::uint8_t* bytes, Word size) {
  static constexpr char kDigits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string text;
  text.reserve((size + 2) / 3 * 4);
  for (Word i = 0; i < size; i += 3) {
    const Word there = size - i < 3 ? size - i : 3;
    std::uint32_t bits = 0;
    for (Word k = 0; k < 3; ++k) bits = bits << 8 | (k < there ? bytes[i + k] : 0);
    for (Word k = 0; k < 4; ++k) text += k <= there ? kDigits[bits >> (18 - 6 * k) & 63] : '=';
  }
  return text;
}

Word address_of(Term t) {
  return t.is_list() ? reinterpret_cast<Word>(t.list_ptr()) : reinterpret_cast<Word>(t.boxed_ptr());
}

}  // namespace

void TermDump::word(Term t) {
  if (t.is_nil()) return out_.put("N");
  if (t.is_small()) return out_.print("I{}", t.small_value());
  if (t.is_atom()) return out_.print("A{:X}:{}", atom_text(t).size(), atom_text(t));
  if (t.is_local_pid()) return out_.print("P{}", pid_text(t));
  if (t.is_local_port()) {
    const std::string text = port_text(t);  // #Port<0.N>
    return out_.print("p{}", text.substr(text.find('<')));
  }
  if (!t.is_list() && !t.is_boxed()) return out_.put("?");  // not a term of a program
  out_.print("H{:X}", address_of(t));
  if (seen_.insert(address_of(t)).second) to_do_.push_back(t);
}

void TermDump::pair(Term first, Term second) {
  pairs_.push_back({Term::header(Term::Sub::kTuple, 2), first, second});
  word(Term::boxed(pairs_.back().data()));
}

void TermDump::objects() {
  while (!to_do_.empty() && !out_.full()) {
    const Term t = to_do_.back();
    to_do_.pop_back();
    object(t);
  }
  to_do_.clear();
}

void TermDump::object(Term t) {
  out_.print("{:X}:", address_of(t));
  if (t.is_list()) {
    out_.put("l");
    word(t.head());
    out_.put("|");
    word(t.tail());
  } else if (t.is_tuple()) {
    out_.print("t{:X}:", t.tuple_arity());
    for (Word i = 0; i < t.tuple_arity(); ++i) {
      if (i) out_.put(",");
      word(t.element(i));
    }
  } else if (t.is_float()) {
    const std::string text = term_text(t);
    out_.print("F{:X}:{}", text.size(), text);
  } else if (t.is_big()) {
    out_.print("B{}", term_text(t));
  } else if (is_binary(t)) {
    const BitView view = bits_of(t);
    const Word size = view.size_bytes();
    if (size > kInPlaceBytes && view.aligned()) {
      Word& written = binaries_[view.bytes()];
      written = std::max(written, size);
      out_.print("Yc{:X}:0:{:X}", reinterpret_cast<Word>(view.bytes()), size);
    } else {
      const BytesOf bytes(t);
      out_.print("Yh{:X}:{}", size, base64(bytes.data(), size));
    }
  } else if (t.is_map() || t.is_native_record() || t.is_bitstring() || t.is_fun() || t.is_ref() ||
             t.is_pid() || t.is_port()) {
    const std::string bytes = encode_external(t);
    out_.print("E{:X}:{}", bytes.size(),
               base64(reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size()));
  } else {
    out_.put("t0:");  // a kind that programs do not have
  }
  out_.put("\n");
}

void write_binaries(DumpFile& out, const Binaries& binaries) {
  for (const auto& [bytes, size] : binaries)
    out.print("=binary:{:X}\n{:X}:{}\n", reinterpret_cast<Word>(bytes), size, base64(bytes, size));
}

}  // namespace vmrun::dump
