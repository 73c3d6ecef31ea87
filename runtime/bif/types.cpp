// SPDX-License-Identifier: Apache-2.0
#include "runtime/bif/reduction_budget.hpp"
#include "runtime/bif/support.hpp"
#include "vm/code/native_records.hpp"
#include "vm/term/bits.hpp"
#include "vm/term/compare.hpp"
#include "vm/term/map.hpp"

/// Type tests and sizes.
namespace vmrun {
namespace {

bool is_function_of_arity(Process& p, const Term* a, Term* result) {
  // The arity is checked even when the first argument is not a fun. A big arity is valid, but no
  // fun has it.
  if (a[1].is_small() ? a[1].small_value() < 0 : !a[1].is_boxed_sub(Term::Sub::kPosBig)) {
    raise_badarg(p);
    return false;
  }
  *result = bool_term(a[1].is_small() && a[0].is_fun() &&
                      fun_of(a[0])->arity == static_cast<Word>(a[1].small_value()));
  return true;
}

bool is_tuple_record(Term t, Term tag) { return t.is_tuple() && t.tuple_arity() > 0 && t.element(0) == tag; }

}  // namespace

Term bif_erlang_is_atom_1(Process&, const Term* a) { return bool_term(a[0].is_atom()); }
Term bif_erlang_is_binary_1(Process&, const Term* a) { return bool_term(is_binary(a[0])); }
Term bif_erlang_is_bitstring_1(Process&, const Term* a) { return bool_term(a[0].is_bitstring()); }
Term bif_erlang_is_boolean_1(Process&, const Term* a) {
  return bool_term(a[0] == atoms::true_ || a[0] == atoms::false_);
}
Term bif_erlang_is_float_1(Process&, const Term* a) { return bool_term(a[0].is_float()); }
Term bif_erlang_is_function_1(Process&, const Term* a) { return bool_term(a[0].is_fun()); }
Term bif_erlang_is_integer_1(Process&, const Term* a) { return bool_term(a[0].is_integer()); }
Term bif_erlang_is_list_1(Process&, const Term* a) { return bool_term(a[0].is_cons_or_nil()); }
Term bif_erlang_is_map_1(Process&, const Term* a) { return bool_term(a[0].is_map()); }
Term bif_erlang_is_number_1(Process&, const Term* a) { return bool_term(a[0].is_number()); }
Term bif_erlang_is_pid_1(Process&, const Term* a) { return bool_term(a[0].is_pid()); }
Term bif_erlang_is_port_1(Process&, const Term* a) { return bool_term(a[0].is_port()); }
Term bif_erlang_is_reference_1(Process&, const Term* a) { return bool_term(a[0].is_ref()); }
Term bif_erlang_is_tuple_1(Process&, const Term* a) { return bool_term(a[0].is_tuple()); }

Term bif_erlang_is_function_2(Process& p, const Term* a) {
  Term result;
  return is_function_of_arity(p, a, &result) ? result : kNonValue;
}

Term bif_erlang_is_record_2(Process& p, const Term* a) {
  if (!a[1].is_atom()) return raise_badarg(p);
  if (a[0].is_native_record()) return bool_term(definition_of(a[0]).name() == a[1]);
  return bool_term(is_tuple_record(a[0], a[1]));
}

/// (Term, Tag, Size), or (Term, Module, Name) since there are native records.
Term bif_erlang_is_record_3(Process& p, const Term* a) {
  if (!a[1].is_atom()) return raise_badarg(p);
  if (a[2].is_atom() && release_has(Trait::kNativeRecords))
    return bool_term(is_record_named(a[0], a[1], a[2]));
  if (!a[2].is_small()) return raise_badarg(p);
  return bool_term(is_tuple_record(a[0], a[1]) &&
                   static_cast<SWord>(a[0].tuple_arity()) == a[2].small_value());
}

Term bif_erlang_is_record_1(Process&, const Term* a) { return bool_term(a[0].is_native_record()); }

/// (Term, Least, Most).
Term bif_erlang_is_integer_3(Process& p, const Term* a) {
  if (!a[1].is_integer() || !a[2].is_integer()) return raise_badarg(p);
  return bool_term(a[0].is_integer() && compare(a[1], a[0]) <= 0 && compare(a[0], a[2]) <= 0);
}

Term bif_erlang_length_1(Process& p, const Term* a) {
  SWord n;
  if (!length_here(a[0], &n)) return run_on_dirty(p, bif_erlang_length_1, a, 1);
  if (n < 0) return raise_badarg(p);
  charge(p, n);
  return Term::small(n);
}

Term bif_erlang_hd_1(Process& p, const Term* a) { return a[0].is_list() ? a[0].head() : raise_badarg(p); }
Term bif_erlang_tl_1(Process& p, const Term* a) { return a[0].is_list() ? a[0].tail() : raise_badarg(p); }

Term bif_erlang_tuple_size_1(Process& p, const Term* a) {
  return a[0].is_tuple() ? Term::small(static_cast<SWord>(a[0].tuple_arity())) : raise_badarg(p);
}

Term bif_erlang_byte_size_1(Process& p, const Term* a) {
  return a[0].is_bitstring() ? Term::small(static_cast<SWord>((bit_size_of(a[0]) + 7) / 8)) : raise_badarg(p);
}

Term bif_erlang_bit_size_1(Process& p, const Term* a) {
  return a[0].is_bitstring() ? Term::small(static_cast<SWord>(bit_size_of(a[0]))) : raise_badarg(p);
}

Term bif_erlang_size_1(Process& p, const Term* a) {
  if (a[0].is_tuple()) return bif_erlang_tuple_size_1(p, a);
  return a[0].is_bitstring() ? Term::small(static_cast<SWord>(bit_size_of(a[0]) / 8)) : raise_badarg(p);
}

Term bif_erlang_map_size_1(Process& p, const Term* a) {
  return a[0].is_map() ? Term::small(static_cast<SWord>(map_size(a[0]))) : raise_badmap(p, a[0]);
}

Term bif_erlang_map_get_2(Process& p, const Term* a) {
  if (!a[1].is_map()) return raise_badmap(p, a[1]);
  const Term value = map_get(a[1], a[0]);
  return value ? value : raise_badkey(p, a[0]);
}

Term bif_erlang_is_map_key_2(Process& p, const Term* a) {
  return a[1].is_map() ? bool_term(map_get(a[1], a[0]).is_value()) : raise_badmap(p, a[1]);
}

}  // namespace vmrun
