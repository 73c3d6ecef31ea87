// SPDX-License-Identifier: Apache-2.0
#include "runtime/bif/dyntrace.hpp"

#include <algorithm>
#include <cstring>

#include "runtime/bif/iolist.hpp"
#include "runtime/bif/support.hpp"
#include "vm/code/native_env.hpp"
#include "vm/nif/library.hpp"
#include "vm/probes/fire.hpp"
#include "vm/process/trace_state.hpp"
#include "vm/term/big.hpp"
#include "vm/term/map.hpp"

/// The probes that programs fire themselves: user_trace-n0 … n950, -i4s4, -s1. The module dyntrace
/// is made of these functions. Nothing is allocated on a heap, and the result tells the caller
/// whether the probe is enabled.
namespace vmrun {
namespace {

constexpr unsigned kIntegers = 4, kStrings = 4;
constexpr SWord kProbes = 951, kLabels = 1024;

std::int64_t user_integer(Term t) {
  std::int64_t n;
  return integer_to_int64(t, &n) ? n : 0;
}

/// The argument as every consumer takes it: nothing (NULL) when it is not an iolist or is too long.
Term user_string(Term t) { return probe::is_shown_iolist(t) ? t : kNonValue; }

/// args: tag, four integers, four strings; an atom stands for a missing one.
template <class Fire>
Term fire_user_trace(Process& p, const Term* a, Fire fire) {
  fire(p.id, user_string(a[0]), user_integer(a[1]), user_integer(a[2]), user_integer(a[3]),
       user_integer(a[4]), user_string(a[5]), user_string(a[6]), user_string(a[7]), user_string(a[8]));
  return atoms::true_;
}

/// For dyntrace:p and pn: sorts the arguments into integers, as long as they come first and four at
/// most, then strings. (The module has made sure that four places for strings suffice.)
void sort_arguments(Process& p, Term list, Term* sorted) {
  std::fill_n(sorted, 1 + kIntegers + kStrings, atoms::undefined);
  sorted[0] = own_tag(p).is_nil() ? atoms::undefined : own_tag(p);
  unsigned n = 0;
  for (; n < kIntegers && list.is_list() && list.head().is_integer(); list = list.tail())
    sorted[1 + n++] = list.head();
  for (n = 0; n < kStrings && list.is_list(); list = list.tail()) sorted[1 + kIntegers + n++] = list.head();
}

Term user_trace_i4s4(Process& p, const Term* a) {
  if (!probe::kCompiledIn) return atoms::error;
  if (!probe::user_trace_i4s4_enabled()) return atoms::false_;
  return fire_user_trace(p, a, probe::fire_user_trace_i4s4);
}

Term user_trace_n(Process& p, Term label, const Term* a) {
  SWord n;
  if (!probe::kCompiledIn) return atoms::error;
  if (!small_in_range(label, 0, kLabels - 1, &n)) return atoms::badarg;
  if (n >= kProbes) return atoms::error;
  const auto number = static_cast<unsigned>(n);
  if (!probe::user_trace_n_enabled(number)) return atoms::false_;
  return fire_user_trace(p, a, [&](auto&&... arguments) { probe::fire_user_trace_n(number, arguments...); });
}

}  // namespace

Term bif_dyntrace_available_0(Process&, const Term*) { return bool_term(probe::kCompiledIn); }

Term bif_dyntrace_user_trace_i4s4_9(Process& p, const Term* a) { return user_trace_i4s4(p, a); }
Term bif_dyntrace_user_trace_n_10(Process& p, const Term* a) { return user_trace_n(p, a[0], a + 1); }
Term bif_dyntrace_user_trace_s1_1(Process&, const Term* a) {
  if (!probe::kCompiledIn) return atoms::error;
  if (!probe::user_trace_s1_enabled()) return atoms::false_;
  if (!probe::is_shown_iolist(a[0])) return atoms::badarg;
  probe::fire_user_trace_s1(a[0]);
  return atoms::true_;
}

// ---- The functions of a tracer module -----------------------------------------------------------
// For the tracer {dyntrace, State} the machine fires the probes itself. Programs may call these
// functions nevertheless.

namespace {

bool is_sequential(Term tag) { return tag == atoms::seq_trace; }
bool tag_enabled(Term tag) {
  return is_sequential(tag) ? probe::trace_seq_enabled() : probe::trace_enabled();
}

}  // namespace

Term bif_dyntrace_enabled_3(Process&, const Term* a) {
  static const Term discard = intern_atom("discard");
  return tag_enabled(a[0]) ? atoms::trace : discard;
}

/// trace(Tag, State, Tracee, Term, #{extra => Term}). For seq_trace the tracee is the label.
Term bif_dyntrace_trace_5(Process& p, const Term* a) {
  static const Term extra_key = intern_atom("extra");
  if (!a[0].is_atom() || !a[4].is_map()) return raise_badarg(p);
  if (!tag_enabled(a[0])) return atoms::ok;
  if (is_sequential(a[0])) probe::fire_trace_seq(a[1], a[2], a[3]);
  else probe::fire_trace(a[2], a[0], a[1], a[3], map_get(a[4], extra_key));
  return atoms::ok;
}

// ---- OTP's own module ---------------------------------------------------------------------------
// With an installed OTP dyntrace is OTP's module, whose functions are native. Its library may have
// been built without probes, so this one replaces it.

namespace {

template <Term (*kFunction)(Process&, const Term*)>
ERL_NIF_TERM native(ErlNifEnv* env, int, const ERL_NIF_TERM* a) {
  const Term result = kFunction(*env->process, reinterpret_cast<const Term*>(a));
  return result ? from_term(result) : enif_make_badarg(env);
}

constexpr auto* kEnabled = native<bif_dyntrace_enabled_3>;
constexpr auto* kTrace = native<bif_dyntrace_trace_5>;

ErlNifFunc functions[] = {{"available", 0, native<bif_dyntrace_available_0>, 0},
                          {"user_trace_s1", 1, native<bif_dyntrace_user_trace_s1_1>, 0},
                          {"user_trace_i4s4", 9, native<bif_dyntrace_user_trace_i4s4_9>, 0},
                          {"user_trace_n", 10, native<bif_dyntrace_user_trace_n_10>, 0},
                          {"enabled", 3, kEnabled, 0},
                          {"enabled_call", 3, kEnabled, 0},
                          {"enabled_garbage_collection", 3, kEnabled, 0},
                          {"enabled_ports", 3, kEnabled, 0},
                          {"enabled_procs", 3, kEnabled, 0},
                          {"enabled_receive", 3, kEnabled, 0},
                          {"enabled_running_ports", 3, kEnabled, 0},
                          {"enabled_running_procs", 3, kEnabled, 0},
                          {"enabled_send", 3, kEnabled, 0},
                          {"trace", 5, kTrace, 0},
                          {"trace_call", 5, kTrace, 0},
                          {"trace_garbage_collection", 5, kTrace, 0},
                          {"trace_ports", 5, kTrace, 0},
                          {"trace_procs", 5, kTrace, 0},
                          {"trace_receive", 5, kTrace, 0},
                          {"trace_running_ports", 5, kTrace, 0},
                          {"trace_running_procs", 5, kTrace, 0},
                          {"trace_send", 5, kTrace, 0}};

int load(ErlNifEnv*, void**, ERL_NIF_TERM) { return 0; }
int upgrade(ErlNifEnv*, void**, void**, ERL_NIF_TERM) { return 0; }

ErlNifEntry* entry() {
  static ErlNifEntry made = linked_in_entry("dyntrace", functions, load, upgrade);
  return &made;
}

}  // namespace

void register_dyntrace_natives() { register_linked_in_nifs("dyntrace", entry); }

Term bif_vmrun_trace_p_1(Process& p, const Term* a) {
  Term sorted[1 + kIntegers + kStrings];
  sort_arguments(p, a[0], sorted);
  return user_trace_i4s4(p, sorted);
}
Term bif_vmrun_trace_pn_2(Process& p, const Term* a) {
  Term sorted[1 + kIntegers + kStrings];
  sort_arguments(p, a[1], sorted);
  return user_trace_n(p, a[0], sorted);
}

}  // namespace vmrun
