// SPDX-License-Identifier: Apache-2.0
#include <cstring>
#include <vector>

#include "vm/base/release.hpp"
#include "vm/base/utf8.hpp"
#include "vm/term/atom.hpp"
#include "vm/term/bits_fields.hpp"
#include "vm/term/external_decoder.hpp"
#include "vm/term/external_identifier.hpp"
#include "vm/term/external_tags.hpp"
#include "vm/term/fun.hpp"
#include "vm/term/native_record.hpp"
#include "vm/term/node.hpp"
#include "vm/term/pid_numbers.hpp"
#include "vm/term/term_upcalls.hpp"

/// Decodes what has names: atoms, identifiers, functions.
namespace vmrun {

namespace {

/// Counts the characters; -1 when the bytes are not UTF-8.
SWord utf8_characters(const std::uint8_t* bytes, std::size_t size) {
  std::size_t plain = 0;
  for (Word eight; plain + 8 <= size; plain += 8) {
    std::memcpy(&eight, bytes + plain, 8);
    if (eight & 0x8080808080808080) break;
  }
  while (plain < size && bytes[plain] < 0x80) ++plain;
  auto characters = static_cast<SWord>(plain);
  MatchContext m{};
  m.base = bytes;
  m.offset_bits = plain * 8;
  for (m.size_bits = size * 8; bits_left(m); ++characters)
    if (!bs_get_utf8(m)) return -1;
  return characters;
}

Term atom_of(std::string_view valid_utf8, bool safe, const char** error) {
  const Term atom = safe ? existing_atom(valid_utf8) : try_intern_atom(valid_utf8);
  if (!atom) *error = safe ? "an atom that does not exist" : kAtomTableFull;
  return atom;
}

}  // namespace

Term atom_from_utf8(const std::uint8_t* bytes, std::size_t size, bool safe, const char** error) {
  const SWord characters = utf8_characters(bytes, size);
  if (characters < 0 || characters > static_cast<SWord>(kAtomMaxCharacters)) {
    *error = characters < 0 ? "an atom that is not UTF-8" : "an atom of more than 255 characters";
    return kNonValue;
  }
  return atom_of({reinterpret_cast<const char*>(bytes), size}, safe, error);
}

bool Decoder::read_utf8_atom(std::size_t bytes, Term* out) {
  if (!need(bytes)) return false;
  *out = atom_from_utf8(p_, bytes, options_.safe, &error_);
  if (!*out) return false;
  p_ += bytes;
  return true;
}

bool Decoder::read_latin1_atom(std::size_t bytes, Term* out) {
  if (!need(bytes)) return false;
  if (bytes > kAtomMaxCharacters) return fail("an atom of more than 255 characters");
  char text[2 * kAtomMaxCharacters];
  std::size_t n = 0;
  for (std::size_t i = 0; i < bytes; ++i) n += utf8::encode(p_[i], text + n);
  *out = atom_of({text, n}, options_.safe, &error_);
  if (!*out) return false;
  p_ += bytes;
  return true;
}

bool Decoder::read_atom_reference(Term* out) {
  const unsigned index = u8();
  if (index >= options_.atoms.size()) return fail("an atom that the header does not have");
  *out = options_.atoms[index];
  return true;
}

bool Decoder::read_numbered_atom(unsigned bytes, Term* out) {
  if (!need(bytes)) return false;
  const Word number = unsigned_be(bytes);
  if (number >= atom_count()) return fail("the number of an atom that does not exist");
  *out = Term::atom(static_cast<std::uint32_t>(number));
  return true;
}

bool Decoder::read_atom(Term* out) {
  if (!need(2)) return false;
  switch (u8()) {
    case etf::kAtomReference: return read_atom_reference(out);
    case etf::kShortAtomNumber: return read_numbered_atom(2, out);
    case etf::kAtomNumber: return read_numbered_atom(3, out);
    case etf::kAtom: return need(2) && read_latin1_atom(unsigned_be(2), out);
    case etf::kSmallAtom: return read_latin1_atom(u8(), out);
    case etf::kAtomUtf8: return need(2) && read_utf8_atom(unsigned_be(2), out);
    case etf::kSmallAtomUtf8: return read_utf8_atom(u8(), out);
  }
  return fail("an atom was expected");
}

bool Decoder::read_plain_integer(Word* out) {
  if (!need(2)) return false;
  switch (u8()) {
    case etf::kSmallInteger: *out = u8(); return true;
    case etf::kInteger:
      if (!need(4)) return false;
      *out = unsigned_be(4);
      return true;
    case etf::kSmallBig: {
      const unsigned n = u8();
      if (n > 8 || !need(n + 1u)) return fail("an integer that is too large");
      ++p_;
      *out = 0;
      for (unsigned i = 0; i < n; ++i) *out |= Word{*p_++} << (8 * i);
      return true;
    }
  }
  return fail("an integer was expected");
}

/// A creation of one byte, as before OTP 23, is at most 3.
bool Decoder::read_creation(unsigned bytes, std::uint32_t* out) {
  *out = static_cast<std::uint32_t>(unsigned_be(bytes));
  return bytes > 1 || *out <= 3 || fail("a creation out of range");
}

bool Decoder::is_own(Term node, std::uint32_t creation) const {
  return is_local_node(node, creation) || (is_local_ && node == atoms::empty_atom);
}

bool Decoder::read_pid(unsigned creation_bytes, Term* slot) {
  Term node;
  if (!read_atom(&node) || !need(8 + creation_bytes)) return false;
  const Word id = unsigned_be(4), serial = unsigned_be(4);
  std::uint32_t creation;
  if (!read_creation(creation_bytes, &creation)) return false;
  if (is_own(node, creation)) {
    if (!is_pid_id(id, serial)) return fail("a pid out of range");
    *slot = Term::pid(pid_id(id, serial));
    return true;
  }
  const Word data = serial << 32 | id;
  *slot = external_identifier(heap_, Term::Sub::kExternalPid, node_entry(node, creation), &data, 1);
  return true;
}

bool Decoder::read_port(unsigned id_bytes, unsigned creation_bytes, Term* slot) {
  Term node;
  if (!read_atom(&node) || !need(id_bytes + creation_bytes)) return false;
  const Word id = unsigned_be(id_bytes);
  std::uint32_t creation;
  if (!read_creation(creation_bytes, &creation)) return false;
  if (is_own(node, creation)) {
    if (!is_port_number(id)) return fail("a port out of range");
    *slot = Term::port(id);
    return true;
  }
  *slot = external_identifier(heap_, Term::Sub::kExternalPort, node_entry(node, creation), &id, 1);
  return true;
}

bool Decoder::local_reference(const std::uint32_t* numbers, Word count, Term* slot) {
  // With five numbers it is an alias, of the process that the last two say. It may be one without
  // them, too (term_upcalls.hpp).
  Word owner = Word{numbers[4]} << 32 | numbers[3];
  if (count <= 3)
    if (const Term process = term_upcalls.alias_owner(numbers)) owner = process.id_number();
  const bool alias = owner != 0;
  if (count == 4 || owner >> 56) return fail("a reference out of range");
  if (!alias) {
    if (const Term resource = term_upcalls.find_resource(numbers, heap_)) {
      *slot = resource;
      return true;
    }
  }
  auto* r = reinterpret_cast<RefObject*>(heap_.alloc(alias ? 4 : 3));
  r->header = Term::header(Term::Sub::kRef, alias ? 3 : 2);
  std::memcpy(r->numbers, numbers, sizeof r->numbers);
  r->unused = 0;
  if (alias) r->owner = Term::pid(owner);
  *slot = Term::boxed(&r->header);
  return true;
}

bool Decoder::read_reference(Word count, unsigned creation_bytes, bool creation_first, Term* slot) {
  Term node;
  if (count < 1 || count > 5) return fail("a reference of impossible length");
  if (!read_atom(&node) || !need(4 * count + creation_bytes)) return false;
  std::uint32_t creation = 0;
  if (creation_first && !read_creation(creation_bytes, &creation)) return false;
  std::uint32_t numbers[6] = {};
  for (Word i = 0; i < count; ++i) numbers[i] = static_cast<std::uint32_t>(unsigned_be(4));
  if (!creation_first && !read_creation(creation_bytes, &creation)) return false;
  constexpr unsigned kFirstBits = 18;  // of the first number: here, and while creations had one byte
  const bool is_local = is_own(node, creation);
  if ((is_local || creation_bytes == 1) && numbers[0] >> kFirstBits) return fail("a reference out of range");
  if (is_local) return local_reference(numbers, count, slot);
  // Up to three numbers take two words, four and five three, so that the length tells three from
  // five (others are padded with 0).
  Word data[3];
  std::memcpy(data, numbers, sizeof data);
  *slot = external_identifier(heap_, Term::Sub::kExternalRef, node_entry(node, creation), data,
                              count <= 3 ? 2 : 3);
  return true;
}

bool Decoder::read_external_fun(Term* slot) {
  Term module, function;
  if (!read_atom(&module) || !read_atom(&function) || !need(2)) return false;
  if (u8() != etf::kSmallInteger) return fail("an arity was expected");
  const unsigned arity = u8();
  Export* e = options_.safe ? find_export(module, function, arity) : export_entry(module, function, arity);
  if (!e) return fail("an external fun that does not exist");
  auto* f = reinterpret_cast<FunObject*>(heap_.alloc(sizeof(FunObject) / sizeof(Term)));
  *f = FunObject{};
  f->header = Term::header(Term::Sub::kFun, sizeof(FunObject) / sizeof(Term) - 1);
  f->exported = e;
  f->arity = static_cast<std::uint8_t>(arity);
  f->is_external = 1;
  f->creator = Term::nil();
  *slot = Term::boxed(&f->header);
  return true;
}

bool Decoder::read_fun(Term* slot) {
  if (!need(4 + 1 + 16 + 4 + 4)) return false;
  p_ += 4;  // the size, which follows from the parts
  const unsigned arity = u8();
  const std::uint8_t* uniq = p_;
  p_ += 16;
  const auto index = static_cast<std::uint32_t>(unsigned_be(4)),
             free_count = static_cast<std::uint32_t>(unsigned_be(4));
  Term module, creator;
  Word old_index, old_uniq;
  if (!read_atom(&module) || !read_plain_integer(&old_index) || !read_plain_integer(&old_uniq) || !need(1))
    return false;
  const unsigned tag = u8();
  if (tag != etf::kPid && tag != etf::kNewPid) return fail("a pid was expected");
  if (!read_pid(tag == etf::kPid ? 1 : 4, &creator)) return false;
  if (free_count > left() || free_count > 255) return fail("a fun with more variables than data");
  FunEntry* entry = fun_entry(module, uniq, index, static_cast<std::uint32_t>(old_uniq), arity, free_count);
  if (entry->arity != arity || entry->free_count != free_count)
    return fail("a fun that does not fit the module's");
  const Word words = sizeof(FunObject) / sizeof(Term) + free_count;
  Term* object = nil_filled(words);
  auto* f = reinterpret_cast<FunObject*>(object);
  f->header = Term::header(Term::Sub::kFun, words - 1);
  f->entry = entry;
  f->arity = static_cast<std::uint8_t>(arity);
  f->is_external = 0;
  f->unused[0] = f->unused[1] = 0;
  f->free_count = free_count;
  f->creator = release_has(Trait::kAnonymousFuns) ? kInitPid : creator;
  f->reserved = 0;
  *slot = Term::boxed(object);
  push(f->environment(), free_count, 1);
  return true;
}

bool Decoder::read_record(Term* slot) {
  if (!release_has(Trait::kNativeRecords)) return fail("an unknown tag");
  if (!need(4 + 1)) return false;
  const Word n = unsigned_be(4);
  const unsigned exported = u8();
  Term module, name;
  if (exported > 1) return fail("a record with unknown flags");
  if (!read_atom(&module) || !read_atom(&name)) return false;
  if (n > left() / 2) return fail("a record larger than the data");
  std::vector<Term> fields(n);
  for (Term& field : fields)
    if (!read_atom(&field)) return false;
  if (has_repeated_field(fields.data(), n)) return fail("a record with a field twice");
  Term* hp = nil_filled(record_definition_words(n) + record_words(n));
  const Term definition =
      make_record_definition(hp, module, name, exported ? atoms::true_ : atoms::false_, fields.data(), n);
  *slot = make_record(hp, definition);
  push(record_values(*slot), n, 1);
  return true;
}

}  // namespace vmrun
