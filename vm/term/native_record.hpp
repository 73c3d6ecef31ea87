// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "vm/term/layout.hpp"

/// Native records (OTP 29; Erlang Reference Manual, "Native Records"). A record holds the
/// definition that it was made with, as a term, and a value for each field:
///
///   record       [header][definition][values…]
///   definition   a tuple: {Hash, Module, Name, IsExported, Fields…}
///
/// Fields and values are in the order of the definition in the program. Definitions are tuples only
/// for what copies and collects them; programs never see them. The definitions of a module are
/// literals, which its records share; a record that came from elsewhere has a definition of its
/// own. Hash is what erlang:phash2 needs of the definition. Read-only once built.
namespace vmrun {

struct RecordObject {
  Term header;
  Term definition;
  Term* values() { return reinterpret_cast<Term*>(this + 1); }
};
static_assert(sizeof(RecordObject) == 2 * 8);

/// The definition of a record as its parts.
class RecordDefinition {
 public:
  explicit RecordDefinition(Term tuple) : tuple_(tuple) {}

  Term tuple() const { return tuple_; }
  std::uint32_t portable_hash() const { return static_cast<std::uint32_t>(part(kHash).small_value()); }
  Term module() const { return part(kModule); }
  Term name() const { return part(kName); }
  Term exported() const { return part(kIsExported); }  // true or false
  Word field_count() const { return tuple_.boxed_ptr()->header_arity() - kFields; }
  Term field(Word i) const { return part(kFields + i); }
  const Term* fields() const { return tuple_.boxed_ptr() + 1 + kFields; }
  /// Returns the field's place, or field_count().
  Word place_of(Term name) const {
    Word i = 0;
    while (i < field_count() && field(i) != name) ++i;
    return i;
  }

 private:
  friend Term make_record_definition(Term*& hp, Term module, Term name, Term exported, const Term* fields,
                                     Word count);
  friend bool is_record_object(const Term* object);
  enum Part : Word { kHash, kModule, kName, kIsExported, kFields };
  Term part(Word i) const { return tuple_.boxed_ptr()[1 + i]; }
  Term tuple_;
};

inline RecordObject* record_of(Term t) {
  assert(t.is_native_record());
  return reinterpret_cast<RecordObject*>(t.boxed_ptr());
}
inline RecordDefinition definition_of(Term record) { return RecordDefinition(record_of(record)->definition); }
inline Term* record_values(Term record) { return record_of(record)->values(); }

inline constexpr Word record_words(Word fields) { return 2 + fields; }
inline constexpr Word record_definition_words(Word fields) { return 5 + fields; }

inline Term record_header(Word fields) { return Term::header(Term::Sub::kRecord, 1 + fields); }
/// Makes a record at hp, which moves on. The caller fills its values in.
Term make_record(Term*& hp, Term definition);
/// Makes a definition at hp, which moves on. The fields are different atoms; exported is true or
/// false.
Term make_record_definition(Term*& hp, Term module, Term name, Term exported, const Term* fields, Word count);
/// Whether an atom is there twice.
bool has_repeated_field(const Term* fields, Word count);
/// Whether this object, whose header says record, has a definition of as many fields.
bool is_record_object(const Term* object);

}  // namespace vmrun
