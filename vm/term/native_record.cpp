// SPDX-License-Identifier: Apache-2.0
#include "vm/term/native_record.hpp"

#include <algorithm>
#include <vector>

#include "vm/term/hash.hpp"

namespace vmrun {

Term make_record(Term*& hp, Term definition) {
  const Word n = RecordDefinition(definition).field_count();
  auto* const record = reinterpret_cast<RecordObject*>(hp);
  record->header = record_header(n);
  record->definition = definition;
  hp += record_words(n);
  return Term::boxed(&record->header);
}

Term make_record_definition(Term*& hp, Term module, Term name, Term exported, const Term* fields,
                            Word count) {
  constexpr Word kFields = RecordDefinition::kFields;
  Term* const object = hp;
  Term* const parts = object + 1;
  object[0] = Term::header(Term::Sub::kTuple, kFields + count);
  parts[RecordDefinition::kModule] = module;
  parts[RecordDefinition::kName] = name;
  parts[RecordDefinition::kIsExported] = exported;
  std::copy_n(fields, count, parts + kFields);
  // The hash is that of a tuple of all other parts, whose header stands in the hash's place.
  Term& hash = parts[RecordDefinition::kHash];
  hash = Term::header(Term::Sub::kTuple, kFields - 1 + count);
  hash = Term::small(portable_hash2(Term::boxed(&hash)));
  hp += record_definition_words(count);
  return Term::boxed(object);
}

bool has_repeated_field(const Term* fields, Word count) {
  std::vector<Word> sorted(count);
  std::transform(fields, fields + count, sorted.begin(), [](Term t) { return t.raw(); });
  std::sort(sorted.begin(), sorted.end());
  return std::adjacent_find(sorted.begin(), sorted.end()) != sorted.end();
}

bool is_record_object(const Term* object) {
  const auto* record = reinterpret_cast<const RecordObject*>(object);
  if (object->header_arity() == 0 || !record->definition.is_tuple()) return false;
  return record->definition.tuple_arity() >= RecordDefinition::kFields &&
         RecordDefinition(record->definition).field_count() + 1 == object->header_arity();
}

}  // namespace vmrun
