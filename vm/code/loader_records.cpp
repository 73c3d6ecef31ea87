// SPDX-License-Identifier: Apache-2.0
#include "vm/base/release.hpp"
#include "vm/code/loading.hpp"
#include "vm/code/native_records.hpp"

/// Native records: their definitions, and the instructions that make and read them.
namespace vmrun {

bool Loader::make_records(Heap& heap) {
  for (const BeamFile::Record& record : f_.records) {
    std::vector<Term> fields, defaults;
    for (const BeamFile::Record::Field& field : record.fields) {
      fields.push_back(field.name);
      const bool has_none = field.value.kind == Arg::Kind::kUnsigned;
      defaults.push_back(has_none ? Term::catch_at(nullptr) : constant(field.value));
    }
    if (record_entry(record.name) || has_repeated_field(fields.data(), fields.size()))
      return fail("a native record or a field of one is defined twice");
    m_.records.push_back(make_record_entry(heap, f_.module, record.name, record.exported, fields.data(),
                                           defaults.data(), fields.size()));
  }
  return true;
}

Term Loader::record_entry(Term name) const {
  for (const Term entry : m_.records)
    if (RecordDefinition(record_entry_definition(entry)).name() == name) return entry;
  return kNonValue;
}

bool Loader::record_instruction(std::uint8_t opcode, const Arg* a) {
  if (opcode < generic::k_is_any_native_record) return bits_instruction(opcode, a);
  if (!release_has(Trait::kNativeRecords)) return fail("native records exist since OTP 29");
  switch (opcode) {
    case generic::k_is_any_native_record:
      e_.emit(Family::is_native_record, {operand(a[1]), operand(a[0])});
      return true;
    case generic::k_is_native_record:
      e_.emit(Family::is_record_named, {operand(a[1]), operand(a[2]), operand(a[3]), operand(a[0])});
      return true;
    case generic::k_is_record_accessible: {
      const bool is_external = atom_text(a[2].term()) == "external";
      const Term to = is_external ? Term::nil() : f_.module;
      e_.emit(Family::is_record_open, {operand(a[1]), Operand::constant(to), operand(a[0])});
      return true;
    }
    case generic::k_get_record_elements: return get_record_elements(a);
    case generic::k_get_record_field: {
      const Term id = constant(a[2]);
      if (is_register(a[2]) || !(id.is_atom() || (id.is_tuple() && id.tuple_arity() == 2)))
        return fail("bad name of a record");
      e_.emit(Family::get_record_field,
              {operand(a[1]), operand(a[2]), operand(a[3]), operand(a[4]), operand(a[0])});
      return true;
    }
    case generic::k_put_record: return put_record(a);
    default: return bits_instruction(opcode, a);
  }
}

/// Reads a list of fields with a source or a register for each.
bool Loader::record_pairs(const Arg& list, bool are_sources, std::vector<ListWord>* words) {
  const Arg* m = members(list);
  if (list.count % 2) return fail("odd list");
  for (Word i = 0; i < list.count; i += 2) {
    if (!m[i].is_const() || !m[i].term().is_atom()) return fail("a field that is no atom");
    if (!(are_sources ? is_source(m[i + 1]) : is_register(m[i + 1]))) return fail("bad value of a field");
    words->push_back({m[i].value});
    if (are_sources) words->push_back({any(m[i + 1])});
    else words->push_back({m[i + 1].is_y() ? m[i + 1].value | kDestinationY : m[i + 1].value});
  }
  return true;
}

bool Loader::get_record_elements(const Arg* a) {
  std::vector<ListWord> words;
  if (!record_pairs(a[2], false, &words)) return false;
  e_.emit(Family::get_record_elements, {operand(a[1]), operand(a[0])}, words);
  return true;
}

bool Loader::put_record(const Arg* a) {
  std::vector<ListWord> words;
  if (is_register(a[1])) return fail("bad name of a record");
  if (!record_pairs(a[5], true, &words)) return false;
  const Operand dst = operand(a[3]), live = number(a[4].value);
  if (!(a[2].is_const() && a[2].term().is_nil())) {
    e_.emit(Family::update_native_record, {operand(a[2]), live, dst}, words);
    return true;
  }
  const Term id = constant(a[1]);
  if (id.is_atom()) {
    const Term entry = record_entry(id);
    return entry ? make_record(entry, a) : fail("a native record that is not defined");
  }
  if (!id.is_tuple() || id.tuple_arity() != 2) return fail("bad name of a record");
  e_.emit(Family::create_native_record, {Operand::constant(id), live, dst}, words);
  return true;
}

/// Makes a record of this module. All that is not known before the code runs are the given values,
/// as long as no field is unknown and none is without a value.
bool Loader::make_record(Term entry, const Arg* a) {
  const RecordDefinition d(record_entry_definition(entry));
  const Arg* m = members(a[5]);
  std::vector<const Arg*> given(d.field_count());
  bool is_whole = true;
  for (Word i = 0; i < a[5].count; i += 2) {
    const Word place = d.place_of(m[i].term());
    if (place < given.size()) given[place] = &m[i + 1];
    else is_whole = false;
  }
  std::vector<ListWord> values;
  for (Word i = 0; i < given.size(); ++i) {
    const Term value = record_entry_default(entry, i);
    is_whole = is_whole && (given[i] || !value.is_catch());
    values.push_back({given[i] ? any(*given[i]) : value.raw()});
  }
  if (!is_whole) {  // an exception that only code of other compilers raises
    std::vector<ListWord> words;
    if (!record_pairs(a[5], true, &words)) return false;
    e_.emit(Family::create_native_record, {Operand::constant(entry), number(a[4].value), operand(a[3])},
            words);
    return true;
  }
  e_.emit(Family::test_heap, {number(a[4].value), need(record_words(given.size()))});
  e_.emit(Family::make_record, {Operand::constant(d.tuple()), operand(a[3])}, values);
  return true;
}

}  // namespace vmrun
