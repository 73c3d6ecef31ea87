// SPDX-License-Identifier: Apache-2.0
#include "vm/code/native_records.hpp"

#include <algorithm>

#include "vm/code/code_server.hpp"
#include "vm/code/instruction_support.hpp"
#include "vm/code/instructions.hpp"
#include "vm/term/bits.hpp"

namespace vmrun {
namespace {

Term raise_about_field(Process& p, Term reason, Term module, Term name, Term field) {
  field = settled(p.heap, field);
  Term* hp = p.heap.alloc(9);
  const Term id = make_tuple(hp, module, name);
  const Term which = make_tuple(hp, id, field);
  return raise_error(p, make_tuple(hp, reason, which));
}
Term raise_about_field(Process& p, Term reason, Term definition, Term field) {
  const RecordDefinition d(definition);
  return raise_about_field(p, reason, d.module(), d.name(), field);
}

/// Returns the encoded value of a field among the pairs, or nullptr.
const Word* value_among(const Word* pairs, unsigned count, Term field) {
  for (unsigned i = 0; i < count; i += 2)
    if (pairs[i] == field.raw()) return pairs + i + 1;
  return nullptr;
}

/// Returns a field among the pairs that the definition lacks, or the non-value.
Term unknown_field(RecordDefinition d, const Word* pairs, unsigned count) {
  for (unsigned i = 0; i < count; i += 2)
    if (d.place_of(Term::from_raw(pairs[i])) == d.field_count()) return Term::from_raw(pairs[i]);
  return kNonValue;
}

}  // namespace

Term make_record_entry(TermSpace& heap, Term module, Term name, Term exported, const Term* fields,
                       const Term* defaults, Word count) {
  Term* hp = heap.alloc(record_definition_words(count) + (count ? 1 + count : 0) + 2);
  const Term definition = make_record_definition(hp, module, name, exported, fields, count);
  Term values = empty_tuple();
  if (count) {
    values = Term::boxed(hp);
    *hp++ = Term::header(Term::Sub::kTuple, count);
    hp = std::copy_n(defaults, count, hp);
  }
  return make_cons(hp, definition, values);
}

Term find_record_entry(Term module, Term name) {
  const Module* m = current_module(module);
  if (!m) return kNonValue;
  for (const Term entry : m->records)
    if (RecordDefinition(record_entry_definition(entry)).name() == name) return entry;
  return kNonValue;
}

Term raise_badrecord(Process& p, Term value) {
  value = settled(p.heap, value);
  Term* hp = p.heap.alloc(3);
  return raise_error(p, make_tuple(hp, atoms::badrecord, value));
}
Term raise_badfield(Process& p, Term module, Term name, Term field) {
  return raise_about_field(p, atoms::badfield, module, name, field);
}
Term raise_novalue(Process& p, Term module, Term name, Term field) {
  return raise_about_field(p, atoms::novalue, module, name, field);
}

bool get_record_elements(Term record, const Word* pairs, unsigned count, Term* x, Term* e) {
  const RecordDefinition d = definition_of(record);
  if (unknown_field(d, pairs, count)) return false;
  const Term* const values = record_values(record);
  for (unsigned i = 0; i < count; i += 2) {
    const Word to = pairs[i + 1];
    Term* const destination = to & kDestinationY ? e + (to & ~Word{kDestinationY}) : x + to;
    *destination = values[d.place_of(Term::from_raw(pairs[i]))];
  }
  return true;
}

Term create_native_record(Process& p, Term id, const Word* pairs, unsigned count, Term* x, unsigned live) {
  const Term entry = id.is_list() ? id : find_record_entry(id.element(0), id.element(1));
  if (!entry) return raise_badrecord(p, id);
  const RecordDefinition d(record_entry_definition(entry));
  if (!id.is_list() && d.exported() != atoms::true_) return raise_badrecord(p, id);
  if (const Term field = unknown_field(d, pairs, count))
    return raise_about_field(p, atoms::badfield, d.tuple(), field);
  const Word n = d.field_count();
  for (Word i = 0; i < n; ++i)
    if (record_entry_default(entry, i).is_catch() && !value_among(pairs, count, d.field(i)))
      return raise_about_field(p, atoms::novalue, d.tuple(), d.field(i));
  room_for(p, record_words(n), x, live, nullptr, 0);
  Term* hp = p.heap.alloc(record_words(n));
  const Term record = make_record(hp, d.tuple());
  for (Word i = 0; i < n; ++i) {
    const Word* given = value_among(pairs, count, d.field(i));
    record_values(record)[i] = given ? decode_source(*given, x, p.heap.stop) : record_entry_default(entry, i);
  }
  return record;
}

Term update_native_record(Process& p, Term record, const Word* pairs, unsigned count, Term* x,
                          unsigned live) {
  if (!record.is_native_record()) return raise_badrecord(p, record);
  const Word n = definition_of(record).field_count();
  if (const Term field = unknown_field(definition_of(record), pairs, count))
    return raise_about_field(p, atoms::badfield, definition_of(record).tuple(), field);
  room_for(p, record_words(n), x, live, &record, 1);
  Term* hp = p.heap.alloc(record_words(n));
  copy_words(hp, record.boxed_ptr(), record_words(n));
  const Term copy = Term::boxed(hp);
  for (unsigned i = 0; i < count; i += 2) {
    const Word place = definition_of(record).place_of(Term::from_raw(pairs[i]));
    record_values(copy)[place] = decode_source(pairs[i + 1], x, p.heap.stop);
  }
  return copy;
}

Term get_record_field(Process& p, Term record, Term id, Term field, bool raises) {
  const auto is_meant = [&] {
    if (!record.is_native_record()) return false;
    const RecordDefinition d = definition_of(record);
    if (id.is_atom()) return id == atoms::underscore || id == d.name();
    return d.module() == id.element(0) && d.name() == id.element(1) && d.exported() == atoms::true_;
  };
  if (!is_meant()) return raises ? raise_badrecord(p, record) : kNonValue;
  const RecordDefinition d = definition_of(record);
  const Word place = d.place_of(field);
  if (place < d.field_count()) return record_values(record)[place];
  return raises ? raise_about_field(p, atoms::badfield, d.tuple(), field) : kNonValue;
}

}  // namespace vmrun
