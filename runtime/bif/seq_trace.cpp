// SPDX-License-Identifier: Apache-2.0
#include "vm/trace/seq_trace.hpp"

#include "runtime/bif/support.hpp"

/// The built-in functions of module seq_trace: they read and set parts of the calling process's
/// token, and print.
namespace vmrun {
namespace {

struct TokenFlag {
  const char* name;
  Word bit;
};
constexpr TokenFlag kTokenFlags[] = {{"send", kSeqSend},
                                     {"receive", kSeqReceive},
                                     {"print", kSeqPrint},
                                     {"timestamp", kSeqNow},
                                     {"strict_monotonic_timestamp", kSeqStrictMonotonic},
                                     {"monotonic_timestamp", kSeqMonotonic}};

/// Returns 0 when there is no such flag.
Word flag_bit(Term name) {
  if (!name.is_atom()) return 0;
  const std::string_view text = atom_text(name);
  for (const TokenFlag& flag : kTokenFlags)
    if (flag.name == text) return flag.bit;
  return 0;
}

enum class Part { kLabel, kSerial, kToken, kFlag, kNone };
Part part_of(Term name) {
  static const Term label = intern_atom("label"), serial = intern_atom("serial");
  if (name == label) return Part::kLabel;
  if (name == serial) return Part::kSerial;
  if (name == atoms::sequential_trace_token) return Part::kToken;
  return flag_bit(name) ? Part::kFlag : Part::kNone;
}

Term serial_of(Process& p, const SeqToken& t) {
  return new_tuple(p.heap, Term::small(t.lastcnt), Term::small(t.serial));
}

Term set_serial(Process& p, Term value) {
  SWord previous, current;
  if (!value.is_tuple() || value.tuple_arity() != 2 ||
      !small_in_range(value.element(0), 0, Term::kSmallMax, &previous) ||
      !small_in_range(value.element(1), 0, Term::kSmallMax, &current))
    return raise_badarg(p);
  const Term old = serial_of(p, make_seq_token(p));
  set_seq_counters(p, previous, current);
  return old;
}

Term set_flag(Process& p, Word bit, Term value) {
  if (value != atoms::true_ && value != atoms::false_) return raise_badarg(p);
  Word& flags = make_seq_token(p).flags;
  const Term old = bool_term(flags & bit);
  flags = value == atoms::true_ ? flags | bit : flags & ~bit;
  return old;
}

}  // namespace

Term bif_erlang_seq_trace_2(Process& p, const Term* a) {
  switch (part_of(a[0])) {
    case Part::kLabel: {
      Term& label = make_seq_token(p).label;
      const Term old = label;
      label = a[1];
      return old;
    }
    case Part::kSerial: return set_serial(p, a[1]);
    case Part::kFlag: return set_flag(p, flag_bit(a[0]), a[1]);
    case Part::kToken: {
      if (!a[1].is_nil()) return raise_badarg(p);
      const Term old = seq_token_term(p, p.heap);
      drop_seq_token(p);
      return old;
    }
    case Part::kNone: break;
  }
  return raise_badarg(p);
}

Term bif_erlang_seq_trace_info_1(Process& p, const Term* a) {
  const Part part = part_of(a[0]);
  if (part == Part::kNone) return raise_badarg(p);
  if (!has_seq_token(p)) return part == Part::kFlag ? new_tuple(p.heap, a[0], atoms::false_) : Term::nil();
  if (part == Part::kToken) return new_tuple(p.heap, a[0], seq_token_term(p, p.heap));
  const SeqToken& t = make_seq_token(p);
  if (part == Part::kFlag) return new_tuple(p.heap, a[0], bool_term(t.flags & flag_bit(a[0])));
  return new_tuple(p.heap, a[0], part == Part::kLabel ? t.label : serial_of(p, t));
}

Term bif_erlang_seq_trace_print_1(Process& p, const Term* a) { return bool_term(seq_trace_print(p, a[0])); }
Term bif_erlang_seq_trace_print_2(Process& p, const Term* a) {
  return bool_term(has_seq_token(p) && equal_exact(make_seq_token(p).label, a[0]) &&
                   seq_trace_print(p, a[1]));
}

}  // namespace vmrun
