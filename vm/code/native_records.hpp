// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "vm/process/bif.hpp"
#include "vm/term/native_record.hpp"

/// What programs do with native records: the longer parts of instructions, and what the module
/// `records` shares with them.
namespace vmrun {

/// A native record as a module defines it: a cell [Definition|Defaults] among the module's
/// literals. Defaults is a tuple with a value for each field; a catch stands for no value.
inline Term record_entry_definition(Term entry) { return entry.head(); }
inline Term record_entry_default(Term entry, Word field) { return entry.tail().element(field); }
/// Makes such a cell in the given space. The fields are different atoms.
Term make_record_entry(TermSpace& heap, Term module, Term name, Term exported, const Term* fields,
                       const Term* defaults, Word count);
/// Returns the entry of the current version of a module, or the non-value. It stays until the
/// calling process is between two slices.
Term find_record_entry(Term module, Term name);

inline bool is_record_named(Term t, Term module, Term name) {
  if (!t.is_native_record()) return false;
  const RecordDefinition d = definition_of(t);
  return d.module() == module && d.name() == name;
}
/// Whether code of a module sees the fields: the record is exported or of that module. nil: of
/// another module than any record's.
inline bool is_record_open(Term record, Term to_module) {
  const RecordDefinition d = definition_of(record);
  return d.exported() == atoms::true_ || d.module() == to_module;
}

// Each sets the exception and returns kNonValue. Fields are {{Module, Name}, Field} in the reason.
Term raise_badrecord(Process& p, Term value);
Term raise_badfield(Process& p, Term module, Term name, Term field);
Term raise_novalue(Process& p, Term module, Term name, Term field);

// ---- Instructions, called with everything stored back -------------------------------------------
// pairs: a field (an atom) and an encoded source, or a destination, in turn. Those that return
// kNonValue have set the exception.

/// Fetches fields. Returns false, and writes nothing, when the record lacks one.
bool get_record_elements(Term record, const Word* pairs, unsigned count, Term* x, Term* e);
/// Makes a record. id: an entry of this module, or {Module, Name}. May collect.
Term create_native_record(Process& p, Term id, const Word* pairs, unsigned count, Term* x, unsigned live);
/// Copies a record with new values. May collect.
Term update_native_record(Process& p, Term record, const Word* pairs, unsigned count, Term* x, unsigned live);
/// Fetches a field. id: the name that the record has (or _ for any), or {Module, Name}, for which
/// it must be exported. Sets the exception only if it is to raise.
Term get_record_field(Process& p, Term record, Term id, Term field, bool raises);

}  // namespace vmrun
