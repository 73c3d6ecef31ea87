// SPDX-License-Identifier: Apache-2.0
#include <vector>

#include "runtime/bif/support.hpp"
#include "vm/code/native_records.hpp"
#include "vm/term/compare.hpp"
#include "vm/term/map.hpp"

/// Module records: making native records, and what they are made of.
namespace vmrun {
namespace {

/// The fields and values of a list [{Field, Value}].
struct Fields {
  std::vector<Term> names, values;
};

/// Returns false with the exception set.
bool read_fields(Process& p, Term module, Term name, Term list, Fields* out) {
  for (Term rest = list; !rest.is_nil(); rest = rest.tail())
    if (!rest.is_list()) return raise_badarg(p), false;
  for (; list.is_list(); list = list.tail()) {
    const Term pair = list.head();
    if (!pair.is_tuple() || pair.tuple_arity() != 2) return raise_badarg(p), false;
    if (!pair.element(0).is_atom()) return raise_badfield(p, module, name, pair.element(0)), false;
    out->names.push_back(pair.element(0));
    out->values.push_back(pair.element(1));
  }
  return !has_repeated_field(out->names.data(), out->names.size()) || (raise_badarg(p), false);
}

}  // namespace

/// (Module, Name, [{Field, Value}], #{is_exported => Bool}).
Term bif_records_create_4(Process& p, const Term* a) {
  if (!a[0].is_atom() || !a[1].is_atom()) return raise_badrecord(p, a[1]);
  if (!a[3].is_map()) return raise_badmap(p, a[3]);
  const Term exported = map_get(a[3], atoms::is_exported);
  bool is_exported;
  if (map_size(a[3]) != 1 || !exported || !read_boolean(exported, &is_exported)) return raise_badarg(p);
  Fields fields;
  if (!read_fields(p, a[0], a[1], a[2], &fields)) return kNonValue;
  const Word n = fields.names.size();
  charge(p, static_cast<SWord>(n));
  Term* hp = p.heap.alloc(record_definition_words(n) + record_words(n));
  const Term record =
      make_record(hp, make_record_definition(hp, a[0], a[1], exported, fields.names.data(), n));
  std::copy(fields.values.begin(), fields.values.end(), record_values(record));
  return record;
}

/// (Record, Module, Name or '_', #{Field => Value}).
Term bif_records_update_4(Process& p, const Term* a) {
  if (!a[0].is_native_record()) return raise_badrecord(p, a[0]);
  const RecordDefinition d = definition_of(a[0]);
  if (a[2] != atoms::underscore && (d.module() != a[1] || d.name() != a[2])) return raise_badrecord(p, a[2]);
  if (!a[3].is_map()) return raise_badmap(p, a[3]);
  if (map_size(a[3]) == 0) return a[0];
  const Word n = d.field_count();
  charge(p, static_cast<SWord>(n));
  std::vector<Term> values(record_values(a[0]), record_values(a[0]) + n);
  Term unknown = kNonValue;  // the first in the order of small maps, whatever the map's size
  MapIterator pairs(a[3]);
  for (Term field, value; pairs.next(&field, &value);) {
    const Word place = d.place_of(field);
    if (place < n) values[place] = value;
    else if (!unknown || compare_flat_keys(field, unknown) < 0) unknown = field;
  }
  if (unknown) return raise_badfield(p, d.module(), d.name(), unknown);
  Term* hp = p.heap.alloc(record_words(n));
  const Term record = make_record(hp, d.tuple());
  std::copy(values.begin(), values.end(), record_values(record));
  return record;
}

Term bif_records_get_2(Process& p, const Term* a) {
  if (!a[1].is_native_record()) return raise_badarg(p);
  const RecordDefinition d = definition_of(a[1]);
  const Word place = d.place_of(a[0]);
  return place < d.field_count() ? record_values(a[1])[place] : raise_badarg(p);
}

Term bif_records_get_module_1(Process& p, const Term* a) {
  return a[0].is_native_record() ? definition_of(a[0]).module() : raise_badarg(p);
}

Term bif_records_get_name_1(Process& p, const Term* a) {
  return a[0].is_native_record() ? definition_of(a[0]).name() : raise_badarg(p);
}

Term bif_records_is_exported_1(Process& p, const Term* a) {
  return a[0].is_native_record() ? definition_of(a[0]).exported() : raise_badrecord(p, a[0]);
}

Term bif_records_get_field_names_1(Process& p, const Term* a) {
  if (!a[0].is_native_record()) return raise_badrecord(p, a[0]);
  const RecordDefinition d = definition_of(a[0]);
  Term* hp = p.heap.alloc(2 * d.field_count());
  Term names = Term::nil();
  for (Word i = d.field_count(); i-- > 0;) names = make_cons(hp, d.field(i), names);
  return names;
}

/// (Module, Name): {#{is_exported => Bool}, [Field or {Field, Default}]}.
Term bif_records_get_definition_2(Process& p, const Term* a) {
  if (!a[0].is_atom() || !a[1].is_atom()) return raise_badarg(p);
  const Term entry = find_record_entry(a[0], a[1]);
  if (!entry) return raise_badarg(p);
  const RecordDefinition d(record_entry_definition(entry));
  Term fields = Term::nil();
  for (Word i = d.field_count(); i-- > 0;) {
    const Term value = record_entry_default(entry, i);
    const Term field = value.is_catch() ? d.field(i) : new_tuple(p.heap, d.field(i), value);
    Term* hp = p.heap.alloc(2);
    fields = make_cons(hp, field, fields);
  }
  const Term options = map_put(p.heap, empty_map(p.heap), atoms::is_exported, d.exported());
  return new_tuple(p.heap, options, fields);
}

}  // namespace vmrun
