// SPDX-License-Identifier: Apache-2.0
#include "vm/trace/trace.hpp"

#include <algorithm>
#include <iterator>

#include "runtime/bif/bifs_generated.hpp"
#include "runtime/bif/support.hpp"
#include "runtime/bif/trace_flags.hpp"
#include "runtime/ets/match_spec.hpp"
#include "vm/code/code_server.hpp"
#include "vm/code/function_probes.hpp"
#include "vm/code/module.hpp"
#include "vm/message/request.hpp"
#include "vm/message/send.hpp"
#include "vm/port/operations.hpp"
#include "vm/process/process_table.hpp"
#include "vm/sched/scheduler.hpp"
#include "vm/trace/call_pattern.hpp"
#include "vm/trace/message_pattern.hpp"
#include "vm/trace/trace_upcalls.hpp"
#include "vm/trace/tracer.hpp"

/// erlang:trace and related functions. For all existing processes and ports the Erlang module
/// vmrun_trace calls these functions once for each.
namespace vmrun {
namespace {

struct NamedFlag {
  const char* name;
  std::uint32_t bit;
};
/// In the order of trace_info.
constexpr NamedFlag kNamedFlags[] = {
    {"running_procs", kTraceRunningProcs},
    {"running_ports", kTraceRunningPorts},
    {"ports", kTracePorts},
    {"scheduler_id", kTraceSchedulerId},
    {"silent", kTraceSilent},
    {"return_to", kTraceReturnTo},
    {"arity", kTraceArity},
    {"garbage_collection", kTraceGc},
    {"exiting", kTraceExiting},
    {"running", kTraceRunning},
    {"set_on_first_link", kTraceSetOnFirstLink},
    {"set_on_link", kTraceSetOnLink},
    {"set_on_first_spawn", kTraceSetOnFirstSpawn},
    {"procs", kTraceProcs},
    {"call", kTraceCall},
    {"set_on_spawn", kTraceSetOnSpawn},
    {"receive", kTraceReceive},
    {"send", kTraceSend},
    {"monotonic_timestamp", kTraceMonotonic},
    {"strict_monotonic_timestamp", kTraceStrictMonotonic},
    {"timestamp", kTraceNow},
};

}  // namespace

std::uint32_t trace_flag_bit(Term name) {
  if (!name.is_atom()) return 0;
  if (name == atoms::all) return kTraceAll;
  const std::string_view text = atom_text(name);
  for (const NamedFlag& flag : kNamedFlags)
    if (flag.name == text) return flag.bit;
  return 0;
}

namespace {

/// Returns {tracer, Module, State} if the module is not loaded yet and has to be; else the
/// non-value.
Term tracer_to_load(Term list) {
  for (; list.is_list(); list = list.tail()) {
    const Term t = list.head();
    if (!t.is_tuple() || t.tuple_arity() != 3 || t.element(0) != atoms::tracer) continue;
    const Term module = t.element(1);
    return module.is_atom() && module != atoms::dyntrace && !current_module(module) ? t : kNonValue;
  }
  return kNonValue;
}

/// The second and third argument of trace/3.
struct TraceOptions {
  bool on = false;
  std::uint32_t flags = 0;
  Term to, state = Term::nil();
  bool cpu_stamps = false;
};

bool read_tracer(Term option, TraceFlags* flags) {
  const Word arity = option.is_tuple() ? option.tuple_arity() : 0;
  if (arity < 2 || arity > 3 || option.element(0) != atoms::tracer) return false;
  flags->to = option.element(1);
  // The tracer is a process or port, dead or alive. It is given directly, or as the state of the
  // module erl_tracer.
  static const Term erl_tracer = intern_atom("erl_tracer");
  if (arity == 3 && flags->to == erl_tracer) flags->to = option.element(2);
  if (arity == 2 || flags->to == option.element(2))
    return flags->to.is_local_pid() || flags->to.is_local_port();
  flags->state = option.element(2);
  return flags->to == atoms::dyntrace || (flags->to.is_atom() && trace_upcalls.native_is_there(flags->to));
}

}  // namespace

bool read_trace_flags(Term list, TraceFlags* flags) {
  for (; list.is_list(); list = list.tail()) {
    static const Term cpu_timestamp = intern_atom("cpu_timestamp");
    const std::uint32_t bits = trace_flag_bit(list.head());
    if (list.head() == cpu_timestamp) flags->cpu_stamps = true;
    else if (!bits && !read_tracer(list.head(), flags)) return false;
    flags->bits |= bits;
  }
  return list.is_nil();
}

namespace {

bool read_options(Process& p, Term how, Term list, TraceOptions* options) {
  if (how != atoms::true_ && how != atoms::false_) return false;
  TraceFlags flags;
  if (!read_trace_flags(list, &flags)) return false;
  *options = {how == atoms::true_, flags.bits, flags.to ? flags.to : p.id, flags.state, flags.cpu_stamps};
  return true;
}

Tracer* tracer_for(const TraceOptions& options) {
  return options.on ? Tracer::create(options.to, options.state) : nullptr;
}

/// Returns true, or false when another tracer traces it or it is gone; kNonValue while the answer
/// is on its way.
Term trace_one_port(Process& p, Term id, const TraceOptions& options) {
  if (has_asked(p)) return take_answer(p);
  Port* port = port_table.find_open(id);
  return port ? trace_port_of(p, *port, options.on, options.flags, tracer_for(options)) : atoms::false_;
}

/// Traces one process.
Term trace_one_process(Process& p, Term pid, const TraceOptions& options) {
  if (pid == p.id) {
    const KeptTracer tracer(tracer_for(options));
    const bool done = set_tracing(p, options.on, options.flags, tracer.get());
    // The rest of the slice would not trace its calls, so the function returns in the next one.
    if (done && is_traced(p, kTraceCall) && this_scheduler()->instructions != Instructions::kTraced)
      return yield_and_retry(p);
    return bool_term(done);
  }
  const Term asked =
      new_tuple(p.heap, bool_term(options.on), Term::small(options.flags), options.to, options.state);
  return ask(p, pid, RequestKind::kTrace, asked, atoms::false_);
}

Term trace_one(Process& p, Term who, const TraceOptions& options) {
  return who.is_local_port() ? trace_one_port(p, who, options) : trace_one_process(p, who, options);
}

Term flag_list(Process& p, std::uint32_t flags) {
  ListBuilder list(p.heap);
  for (const NamedFlag& flag : kNamedFlags)
    if (flags & flag.bit) list.add(intern_atom(flag.name));
  return list.finish();
}

Term info_of_new(Process& p, NewTracees& tracees, Term item) {
  std::uint32_t flags;
  const KeptTracer tracer = tracees.get(&flags);
  return item == atoms::tracer ? tracer_term(tracer.get(), p.heap) : flag_list(p, flags);
}

Term ask_port_for_info(Process& p, Term id, Term item) {
  if (has_asked(p)) return take_answer(p);
  Port* port = port_table.find_open(id);
  return port ? trace_info_of(p, *port, item) : atoms::undefined;
}

Term info_of(Process& p, Term who, Term item) {
  const Term value = who.is_local_port() ? ask_port_for_info(p, who, item)
                     : who == p.id       ? trace_info(p, item, p.heap)
                                         : ask(p, who, RequestKind::kTraceInfo, item, atoms::undefined);
  if (!value || item == atoms::tracer || value == atoms::undefined) return value;
  return flag_list(p, static_cast<std::uint32_t>(value.small_value()));
}

/// What an atom in place of a process or port selects.
struct Selection {
  const char* name;
  bool processes, ports, existing, new_ones;
};
constexpr Selection kSelections[] = {
    {"all", true, true, true, true},
    {"existing", true, true, true, false},
    {"new", true, true, false, true},
    {"processes", true, false, true, true},
    {"existing_processes", true, false, true, false},
    {"new_processes", true, false, false, true},
    {"ports", false, true, true, true},
    {"existing_ports", false, true, true, false},
    {"new_ports", false, true, false, true},
};
/// Returns nullptr for another term.
const Selection* selection_of(Term spec) {
  if (!spec.is_atom()) return nullptr;
  for (const Selection& s : kSelections)
    if (atom_text(spec) == s.name) return &s;
  return nullptr;
}

bool is_tracee(Term t) { return t.is_local_pid() || t.is_local_port(); }

}  // namespace

Term trace_cause(Process&, unsigned, const Term* a) {
  TraceFlags flags;
  return read_trace_flags(a[2], &flags) ? kNonValue : atoms::badopt;
}

Term trace_info_cause(Process&, unsigned, const Term* a) {
  static const Term on_load = intern_atom("on_load"),
                    newly[] = {intern_atom("new"), intern_atom("new_processes"), intern_atom("new_ports")};
  if (!a[0].is_atom()) return kNonValue;
  const bool is_tracee = a[0] == on_load || a[0] == atoms::send || a[0] == atoms::receive ||
                         std::find(std::begin(newly), std::end(newly), a[0]) != std::end(newly);
  return is_tracee ? kNonValue : atoms::badopt;
}

Term bif_erlang_trace_3(Process& p, const Term* a) {
  TraceOptions options;
  if (!read_options(p, a[1], a[2], &options)) {
    const Term tracer = tracer_to_load(a[2]);
    if (!tracer) return raise_badarg(p);
    static Export* const load = export_entry(intern_atom("vmrun_trace"), intern_atom("load_and_trace"), 4);
    return trap_to(p, load, {tracer, a[0], a[1], a[2]});
  }
  if (options.cpu_stamps) {
    if (a[0] != atoms::all) return raise_badarg(p);
    cpu_stamps.store(options.on, std::memory_order_relaxed);
  }
  if (is_tracee(a[0])) {
    const Term done = trace_one(p, a[0], options);
    if (!done) return kNonValue;
    return done == atoms::true_ ? Term::small(1) : raise_badarg(p);
  }
  const Selection* who = selection_of(a[0]);
  if (!who) return raise_badarg(p);
  const KeptTracer tracer(tracer_for(options));
  if (who->new_ones && who->processes) new_processes.set(options.on, options.flags, tracer.get());
  if (who->new_ones && who->ports) new_ports.set(options.on, options.flags, tracer.get());
  if (!who->existing || !options.flags) return Term::small(0);
  static Export* const existing = export_entry(intern_atom("vmrun_trace"), intern_atom("existing"), 4);
  return trap_to(p, existing, {bool_term(who->processes), bool_term(who->ports), a[1], a[2]});
}

Term bif_vmrun_trace_one_3(Process& p, const Term* a) {
  TraceOptions options;
  if (!is_tracee(a[0]) || !read_options(p, a[1], a[2], &options)) return raise_badarg(p);
  return trace_one(p, a[0], options);
}

namespace {

/// {Item, Value} of processes or ports.
Term tracee_info(Process& p, Term who, Term item) {
  static const Term flags = intern_atom("flags");
  if (item != flags && item != atoms::tracer) return raise_badarg(p);
  Term value;
  if (is_tracee(who)) {
    value = info_of(p, who, item);
  } else {
    const Selection* selection = selection_of(who);
    if (!selection || selection->existing) return raise_badarg(p);
    value = info_of_new(p, selection->processes ? new_processes : new_ports, item);
  }
  return !value || value == atoms::undefined ? value : new_tuple(p.heap, item, value);
}

bool is_function_name(Term t) {
  return t.is_tuple() && t.tuple_arity() == 3 && t.element(0).is_atom() && t.element(1).is_atom() &&
         t.element(2).is_small();
}

}  // namespace

/// Information about functions and messages is put together in Erlang.
Term bif_erlang_trace_info_2(Process& p, const Term* a) {
  static Export* const info = export_entry(intern_atom("vmrun_trace"), intern_atom("info"), 2);
  static const Term on_load = intern_atom("on_load"), match_spec = intern_atom("match_spec");
  if (a[0] == atoms::send || a[0] == atoms::receive) {
    if (a[1] != match_spec) return raise_badarg(p);
  } else if (a[0] != on_load && !is_function_name(a[0])) {
    return is_tracee(a[0]) || a[0].is_atom() ? tracee_info(p, a[0], a[1]) : raise_badarg(p);
  }
  return trap_to(p, info, {a[0], a[1]});
}

// ---- Calls --------------------------------------------------------------------------------------

/// The second argument is call, send or receive.
Term bif_vmrun_trace_valid_specification_2(Process& p, const Term* a) {
  using Dialect = ets::MatchSpec::Dialect;
  const Dialect dialect = a[1] == atoms::call   ? Dialect::kTrace
                          : a[1] == atoms::send ? Dialect::kSend
                                                : Dialect::kReceive;
  if (a[0].is_nil()) return atoms::true_;
  const ets::MatchSpec spec(p, a[0], dialect);
  return spec.exceeds_limit() ? atoms::system_limit : bool_term(spec.valid());
}
/// (send | receive, Bool, a specification, or nil for all messages).
Term bif_vmrun_trace_set_message_pattern_3(Process&, const Term* a) {
  const MessagePattern pattern{a[1] == atoms::true_, a[2]};
  (a[0] == atoms::send ? set_send_pattern : set_receive_pattern)(pattern);
  return atoms::true_;
}
Term bif_vmrun_trace_message_pattern_1(Process& p, const Term* a) {
  return (a[0] == atoms::send ? send_pattern_term : receive_pattern_term)(p.heap);
}

namespace {

/// Arguments: kinds, as the bits of call_pattern.hpp; true, false, restart or pause; a
/// specification or nil; the meta tracer, {tracer, …}, or nil. The module vmrun_trace has checked
/// them.
class ChangeOfTerms {
 public:
  ChangeOfTerms(Term kinds, Term action, Term specification, Term tracer) {
    using Action = CallPatternChange::Action;
    static const Term pause = intern_atom("pause"), restart = intern_atom("restart");
    change_.kinds = static_cast<unsigned>(kinds.small_value());
    change_.action = action == pause           ? Action::kPause
                     : action == restart       ? Action::kRestart
                     : action == atoms::false_ ? Action::kOff
                                               : Action::kOn;
    change_.specification = specification;
    TraceFlags named;
    if (read_tracer(tracer, &named)) change_.meta = Tracer::create(named.to, named.state);
  }
  ~ChangeOfTerms() {
    if (change_.meta) change_.meta->release();
  }
  ChangeOfTerms(const ChangeOfTerms&) = delete;
  const CallPatternChange& operator*() const { return change_; }

 private:
  CallPatternChange change_;
};

FunctionName function_name(const Term* a) { return {a[0], a[1], static_cast<unsigned>(a[2].small_value())}; }

}  // namespace

/// vmrun_trace:set_pattern({M, F, A}, Kinds, Action, Specification, Tracer)
Term bif_vmrun_trace_set_pattern_5(Process&, const Term* a) {
  const Term name[] = {a[0].element(0), a[0].element(1), a[0].element(2)};
  change_call_pattern(function_name(name), *ChangeOfTerms(a[1], a[2], a[3], a[4]));
  return atoms::true_;
}
Term bif_vmrun_trace_set_on_load_pattern_4(Process&, const Term* a) {
  change_on_load_pattern(*ChangeOfTerms(a[0], a[1], a[2], a[3]));
  return atoms::true_;
}
Term bif_vmrun_trace_use_breakpoints_0(Process&, const Term*) {
  use_breakpoints();
  return atoms::true_;
}
Term bif_vmrun_trace_is_tracer_1(Process&, const Term* a) {
  TraceFlags named;
  return bool_term(read_tracer(a[0], &named));
}
/// Built-in functions of a module: [{Name, Arity}].
Term bif_vmrun_trace_builtins_1(Process& p, const Term* a) {
  Term list = Term::nil();
  for (std::size_t i = kBifRowCount; i-- > 0;) {
    if (!a[0].is_atom() || atom_text(a[0]) != kBifRows[i].module || !kBifRows[i].exists()) continue;
    const Term pair = new_tuple(p.heap, intern_atom(kBifRows[i].name), Term::small(kBifRows[i].arity));
    Term* hp = p.heap.alloc(2);
    list = make_cons(hp, pair, list);
  }
  return list;
}
Term bif_vmrun_trace_pattern_3(Process& p, const Term* a) {
  return call_pattern_term(function_name(a), p.heap);
}
Term bif_vmrun_trace_on_load_pattern_0(Process& p, const Term*) { return on_load_pattern_term(p.heap); }

Term bif_erlang_trace_pattern_2(Process& p, const Term* a) {
  static Export* const target = export_entry(intern_atom("vmrun_trace"), intern_atom("trace_pattern"), 2);
  return trap_to(p, target, {a[0], a[1]});
}
Term bif_erlang_trace_pattern_3(Process& p, const Term* a) {
  static Export* const target = export_entry(intern_atom("vmrun_trace"), intern_atom("trace_pattern"), 3);
  return trap_to(p, target, {a[0], a[1], a[2]});
}

/// Events are sent to the tracer when they happen, so earlier events have been delivered.
Term bif_erlang_trace_delivered_1(Process& p, const Term* a) {
  if (!a[0].is_local_pid() && a[0] != atoms::all) return raise_badarg(p);
  const Term ref = make_ref(p.heap);
  Fragment* f = new_fragment(4 + kRefWords);
  Term* hp = fragment_alloc(*f, kRefWords);
  const Term copy = make_ref(hp, ref_key(ref));
  hp = fragment_alloc(*f, 4);
  f->message = make_tuple(hp, atoms::trace_delivered, a[0], copy);
  send_from_vm(p.id, f);
  // Signals that are on their way to processes here arrive before the caller reads anything.
  p.reductions = 0;
  return ref;
}

}  // namespace vmrun
