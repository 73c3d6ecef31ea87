// SPDX-License-Identifier: Apache-2.0
#include "probes/attach/encoded_argument.hpp"

#include <algorithm>
#include <cstring>

#include "vm/probes/texts.hpp"

namespace vmrun::attach {

using d::EncodedArgument;
using d::Encoding;
using probe::FunctionArgument;

namespace {

EncodedArgument encoded_words(Encoding shape, const std::uint64_t* words, std::size_t n, char* out,
                              std::size_t room) {
  const std::size_t bytes = n * sizeof *words;
  if (bytes > room) [[unlikely]]
    return {Encoding::kNull, 0};
  std::memcpy(out, words, bytes);
  return {shape, bytes};
}

/// Returns the most bytes that an atom takes as a text: in quotes, each byte may be escaped.
std::size_t written_bytes(Term atom) {
  const std::string_view name = atom_text(atom);
  return atom_needs_quotes(name) ? 4 * name.size() + 2 : name.size();
}
}  // namespace

EncodedArgument encoded_text(const char* text, char* out, std::size_t room) {
  if (!text) return {Encoding::kNull, 0};
  const std::size_t bytes = strnlen(text, room);
  std::memcpy(out, text, bytes);
  return {Encoding::kText, bytes};
}

EncodedArgument encoded_atom(Term atom, char* out, std::size_t room) {
  const std::uint64_t word = atom.raw();
  return encoded_words(Encoding::kAtom, &word, 1, out, room);
}
EncodedArgument encoded_function(const FunctionArgument& f, char* out, std::size_t room) {
  if (!f.module) return encoded_text(probe::FunctionText(f), out, room);
  const std::uint64_t words[] = {f.module.raw(), f.function.raw(), f.arity};
  return encoded_words(Encoding::kFunction, words, 3, out, room);
}
EncodedArgument encoded_pid(Term who, const char* absent, char* out, std::size_t room) {
  if (who && who.is_local_pid()) {
    const std::uint64_t words[] = {pid_number(who.id_number()), pid_serial(who.id_number())};
    return encoded_words(Encoding::kPid, words, 2, out, room);
  }
  if (who && who.is_local_port()) {
    const std::uint64_t number = who.id_number();
    return encoded_words(Encoding::kPort, &number, 1, out, room);
  }
  return encoded_text(probe::PidText(who, absent), out, room);
}
EncodedArgument encoded_term(Term t, unsigned most_bytes, char* out, std::size_t room) {
  if (!t) return {Encoding::kNull, 0};
  if (t.is_local_pid()) return encoded_pid(t, "", out, room);
  if (t.is_atom() && written_bytes(t) <= most_bytes) return encoded_atom(t, out, room);
  char text[1025];
  BoundedText bounded(text, std::min<std::size_t>(most_bytes + 1, sizeof text));
  print_term(bounded, t);
  return encoded_text(text, out, room);
}

std::ptrdiff_t put_text(const char* text, char* out, std::size_t room) {
  if (!text || room == 0) return -1;
  const std::size_t bytes = strnlen(text, room - 1);
  std::memcpy(out, text, bytes);
  out[bytes] = 0;
  return static_cast<std::ptrdiff_t>(bytes);
}

std::size_t term_text_of(Term term, char* out, std::size_t room) {
  if (room == 0) return 0;
  BoundedText text(out, room);
  if (term) print_term(text, term);
  return text.text().size();
}

}  // namespace vmrun::attach
