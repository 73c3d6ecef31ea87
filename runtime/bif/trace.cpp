// SPDX-License-Identifier: Apache-2.0
#include "vm/trace/trace.hpp"

#include <algorithm>
#include <iterator>
#include <mutex>
#include <system_error>
#include <vector>

#include "runtime/bif/bifs_generated.hpp"
#include "runtime/bif/support.hpp"
#include "runtime/bif/trace_flags.hpp"
#include "runtime/ets/match_spec.hpp"
#include "vm/base/epoch.hpp"
#include "vm/base/thread.hpp"
#include "vm/code/after_schedulers.hpp"
#include "vm/code/code_server.hpp"
#include "vm/code/function_probes.hpp"
#include "vm/code/module.hpp"
#include "vm/message/destination.hpp"
#include "vm/message/request.hpp"
#include "vm/message/send.hpp"
#include "vm/nif/resource.hpp"
#include "vm/port/operations.hpp"
#include "vm/process/process_table.hpp"
#include "vm/sched/scheduler.hpp"
#include "vm/trace/call_pattern.hpp"
#include "vm/trace/message_pattern.hpp"
#include "vm/trace/system_monitor.hpp"
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

/// What trace/3 or trace/4 is to do.
struct TraceOptions {
  SessionRef session;
  bool on = false;
  std::uint32_t flags = 0;
  Term to, state = Term::nil();
  bool cpu_stamps = false;
};

}  // namespace

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

/// The tracer of a session takes the place of the caller, and then no other may be named.
bool read_session_flags(const TraceSession& session, Term list, TraceFlags* flags) {
  if (!read_trace_flags(list, flags) || (flags->to && session.tracer)) return false;
  if (session.tracer) {
    flags->to = session.tracer->to;
    flags->state = session.tracer->state;
  }
  return true;
}

bool read_options(Process& p, const SessionRef& session, Term how, Term list, TraceOptions* options) {
  if (how != atoms::true_ && how != atoms::false_) return false;
  TraceFlags flags;
  if (!read_session_flags(*session, list, &flags)) return false;
  *options = {session,     how == atoms::true_, flags.bits, flags.to ? flags.to : p.id,
              flags.state, flags.cpu_stamps};
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
  return port ? trace_port_of(p, *port, options.session, options.on, options.flags, tracer_for(options))
              : atoms::false_;
}

/// How the module vmrun_trace calls a session.
Term number_of(const TraceSession& session) { return Term::small(static_cast<SWord>(session.number)); }
/// Returns the session that the module vmrun_trace calls so; nullptr when it has ended.
SessionRef session_of(Term number) { return find_session(static_cast<Word>(number.small_value())); }

/// Traces one process.
Term trace_one_process(Process& p, Term pid, const TraceOptions& options) {
  if (pid == p.id) {
    const KeptTracer tracer(tracer_for(options));
    const bool done = set_tracing(p, options.session, options.on, options.flags, tracer.get());
    // The rest of the slice would not trace its calls, so the function returns in the next one.
    if (done && is_traced(p, kTraceCall) && this_scheduler()->instructions != Instructions::kTraced)
      return yield_and_retry(p);
    return bool_term(done);
  }
  const Term asked = new_tuple(p.heap, bool_term(options.on), Term::small(options.flags), options.to,
                               options.state, number_of(*options.session));
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

Term ask_port_for_info(Process& p, Word session, Term id, Term item) {
  if (has_asked(p)) return take_answer(p);
  Port* port = port_table.find_open(id);
  return port ? trace_info_of(p, *port, session, item) : atoms::undefined;
}

/// Asks a process or port. Returns the flags as a number, or another item as it is.
Term ask_for_info(Process& p, Word session, Term who, Term item) {
  if (who.is_local_port()) return ask_port_for_info(p, session, who, item);
  const Term request = new_tuple(p.heap, item, Term::small(static_cast<SWord>(session)));
  if (who == p.id) return trace_info(p, request, p.heap);
  return ask(p, who, RequestKind::kTraceInfo, request, atoms::undefined);
}

Term info_of(Process& p, Word session, Term who, Term item) {
  const Term value = ask_for_info(p, session, who, item);
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

// ---- Sessions -----------------------------------------------------------------------------------
// A program has a session as {Reference, {Name, Id}}, which keeps it, or as {Name, Id}.

namespace {

/// What a session has left behind is removed. Any thread. self: the calling process, if it is one.
void clean_after(TraceSession& session, Process* self) {
  set_system_monitor(session.number, {});
  forget_message_patterns(session);
  if (forget_call_patterns(session)) use_breakpoints();
  const std::vector<Term> tracees = tracees_of(session);
  const EpochGuard guard;
  for (const Term tracee : tracees) {
    if (self && tracee == self->id) forget_ended_sessions(*self);
    else if (tracee.is_local_port()) forget_ended_sessions_of_port(tracee);
    else if (Process* p = process_table.find(tracee)) (void)ask_to_forget_tracing(*p);
  }
}

/// Sessions whose last reference is gone. That is noticed in the middle of a collection, which is
/// no place for cleaning, so a thread does it, which ends when there is nothing left to do.
class CleanLater {
 public:
  void add(SessionRef session) {
    const std::lock_guard guard(mutex_);
    waiting_.push_back(std::move(session));
    if (is_working_) return;
    is_working_ = true;
    try {
      start_thread("trace_clean", [this] { work(); }).detach();
    } catch (const std::system_error&) {
      is_working_ = false;  // the next session's end tries again; what is left does nothing
    }
  }

 private:
  SessionRef next() {
    const std::lock_guard guard(mutex_);
    if (waiting_.empty()) {
      is_working_ = false;
      return nullptr;
    }
    SessionRef session = std::move(waiting_.back());
    waiting_.pop_back();
    return session;
  }
  void work() {
    while (const SessionRef session = next()) clean_after(*session, nullptr);
  }

  std::mutex mutex_;
  std::vector<SessionRef> waiting_;
  bool is_working_ = false;
};

void last_reference_is_gone(ErlNifEnv*, void* object) {
  static auto& later = *new CleanLater;
  auto* session = static_cast<SessionRef*>(object);
  if (end_session(**session)) later.add(*session);
  session->~SessionRef();
}

ErlNifResourceType& session_type() {
  static auto& type = new_resource_type(atoms::erlang, intern_atom("trace_session"), last_reference_is_gone);
  return type;
}

enum class Ended : bool { kNo, kYes };

/// Returns the session that a program names; nullptr: there is none, or it has ended and that does
/// not suit.
SessionRef session_named(Term t, Ended may_have_ended) {
  if (!t.is_tuple() || t.tuple_arity() != 2) return nullptr;
  if (t.element(0).is_atom()) return find_session(t.element(0), t.element(1));
  const auto* kept = static_cast<const SessionRef*>(resource_object(t.element(0), session_type()));
  const Term weak = t.element(1);
  if (!kept || !weak.is_tuple() || weak.tuple_arity() != 2) return nullptr;
  const TraceSession& session = **kept;
  if (weak.element(0) != session.name ||
      weak.element(1) != Term::small(static_cast<SWord>(session.number) - 1))
    return nullptr;
  const bool suits = may_have_ended == Ended::kYes || session.is_alive.load(std::memory_order_acquire);
  return suits ? *kept : nullptr;
}

}  // namespace

SessionRef named_session(Term t) { return session_named(t, Ended::kNo); }

namespace {

/// There is no such session. It may have ended while the function waited for the answer of a
/// process or port, which still has to be taken.
Term refuse_ended(Process& p) { return has_asked(p) && !take_answer(p) ? kNonValue : raise_badarg(p); }

Term session_list(Process& p, const std::vector<SessionRef>& sessions) {
  ListBuilder list(p.heap);
  for (const SessionRef& session : sessions) list.add(session->weak_reference(p.heap));
  return list.finish();
}

}  // namespace

/// (Name, Tracer, Options), where Tracer is a process, a port, {Module, State} or undefined.
Term bif_erts_internal_trace_session_create_3(Process& p, const Term* a) {
  if (!a[0].is_atom() || !a[2].is_nil()) return raise_badarg(p);
  TraceFlags named;
  if (a[1] != atoms::undefined) {
    const bool is_pair = a[1].is_tuple() && a[1].tuple_arity() == 2;
    const Term option = is_pair ? new_tuple(p.heap, atoms::tracer, a[1].element(0), a[1].element(1))
                                : new_tuple(p.heap, atoms::tracer, a[1]);
    if (!read_tracer(option, &named)) return raise_badarg(p);
  }
  Resource* resource = new_resource(session_type(), sizeof(SessionRef));
  if (!resource) return raise_system_limit(p);
  const SessionRef session = create_session(a[0], named.to ? Tracer::create(named.to, named.state) : nullptr);
  new (resource->object()) SessionRef(session);
  const Term reference = make_magic_ref(p.heap, *resource);
  resource->binary.release();  // the reference has its own
  return new_tuple(p.heap, reference, session->weak_reference(p.heap));
}

Term bif_erts_internal_trace_session_destroy_1(Process& p, const Term* a) {
  const SessionRef session = session_named(a[0], Ended::kYes);
  if (!session) return raise_badarg(p);
  if (!end_session(*session)) return atoms::false_;
  clean_after(*session, &p);
  return atoms::true_;
}
Term destroy_cause(Process&, unsigned, const Term*) { return atoms::badopt; }

/// In OTP a process asks all others to drop what sessions that have ended have left behind. Here
/// the end of a session does that.
Term bif_erts_trace_cleaner_check_0(Process&, const Term*) { return atoms::false_; }
Term bif_erts_trace_cleaner_send_trace_clean_signal_1(Process& p, const Term*) {
  return raise_error(p, intern_atom("notsup"));
}

// ---- Processes and ports ------------------------------------------------------------------------

Term trace_cause(Process&, unsigned arity, const Term* a) {
  TraceFlags flags;
  const bool in_session = arity == 4;
  const SessionRef session = in_session ? named_session(a[0]) : default_session();
  static const Term of_session = intern_atom("session");
  if (!session) return of_session;
  return read_session_flags(*session, a[in_session ? 3 : 2], &flags) ? kNonValue : atoms::badopt;
}

namespace {

bool is_known_to_info(Term what) {
  static const Term on_load = intern_atom("on_load"),
                    newly[] = {intern_atom("new"), intern_atom("new_processes"), intern_atom("new_ports")};
  return what == on_load || what == atoms::send || what == atoms::receive ||
         std::find(std::begin(newly), std::end(newly), what) != std::end(newly);
}

/// (Who, How, Flags) in a session. With a module that is not loaded yet as the tracer, the module
/// is loaded first.
Term trace_in(Process& p, const SessionRef& session, const Term* a) {
  TraceOptions options;
  if (!read_options(p, session, a[1], a[2], &options)) {
    const Term tracer = session->tracer ? kNonValue : tracer_to_load(a[2]);
    if (!tracer || !session->is_default()) return raise_badarg(p);
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
  const auto set = [&](NewTracees& tracees) {
    tracees.set(options.on, options.flags, tracer.get());
    if (!session->is_alive.load(std::memory_order_acquire)) tracees.set(false, ~0u, nullptr);
  };
  if (who->new_ones && who->processes) set(session->new_processes);
  if (who->new_ones && who->ports) set(session->new_ports);
  if (!who->existing || !options.flags) return Term::small(0);
  static Export* const existing = export_entry(intern_atom("vmrun_trace"), intern_atom("existing"), 5);
  return trap_to(p, existing,
                 {number_of(*session), bool_term(who->processes), bool_term(who->ports), a[1], a[2]});
}

}  // namespace

Term bif_erlang_trace_3(Process& p, const Term* a) { return trace_in(p, default_session(), a); }

/// (Session, Who, How, Flags)
Term bif_erts_internal_trace_4(Process& p, const Term* a) {
  const SessionRef session = named_session(a[0]);
  return session ? trace_in(p, session, a + 1) : refuse_ended(p);
}

/// (Session, Who, How, Flags)
Term bif_vmrun_trace_one_4(Process& p, const Term* a) {
  const SessionRef session = session_of(a[0]);
  if (!session) return has_asked(p) ? take_answer(p) : atoms::false_;
  TraceOptions options;
  if (!is_tracee(a[1]) || !read_options(p, session, a[2], a[3], &options)) return raise_badarg(p);
  return trace_one(p, a[1], options);
}

// ---- Information --------------------------------------------------------------------------------

Term trace_info_cause(Process&, unsigned arity, const Term* a) {
  static const Term any = intern_atom("any"), of_session = intern_atom("session");
  const Term what = a[arity - 2];
  if (arity == 3 && a[0] != any && !named_session(a[0])) return of_session;
  if (what.is_atom()) return is_known_to_info(what) || what == any ? kNonValue : atoms::badopt;
  return arity == 2 || is_tracee(what) || what.is_tuple() ? kNonValue : atoms::badopt;
}

namespace {

/// Whether the atom stands for a session's system monitor.
bool is_system(Term what) {
  static const Term system = intern_atom("system");
  return what == system && release_has(Trait::kSessionMonitors);
}

/// {Item, Value} of processes or ports.
Term tracee_info(Process& p, const SessionRef& session, Term who, Term item) {
  static const Term flags = intern_atom("flags");
  if (item != flags && item != atoms::tracer) return raise_badarg(p);
  if (is_of_former_self(who)) return atoms::undefined;
  Term value;
  if (is_tracee(who)) {
    value = info_of(p, session->number, who, item);
  } else {
    const Selection* selection = selection_of(who);
    if (!selection || selection->existing) return raise_badarg(p);
    value = info_of_new(p, selection->processes ? session->new_processes : session->new_ports, item);
  }
  return !value || value == atoms::undefined ? value : new_tuple(p.heap, item, value);
}

FunctionName function_name(const Term* a) { return {a[0], a[1], static_cast<unsigned>(a[2].small_value())}; }
bool is_function_name(Term t) {
  return t.is_tuple() && t.tuple_arity() == 3 && t.element(0).is_atom() && t.element(1).is_atom() &&
         t.element(2).is_small();
}

/// Information about functions and messages is put together in Erlang.
Term trace_info_in(Process& p, const SessionRef& session, const Term* a) {
  static Export* const info = export_entry(intern_atom("vmrun_trace"), intern_atom("info"), 3);
  static const Term on_load = intern_atom("on_load"), match_spec = intern_atom("match_spec");
  if (is_system(a[0]) && a[1] == atoms::all)
    return new_tuple(p.heap, a[0], monitor_options(p, system_monitor(session->number)));
  if (a[0] == atoms::send || a[0] == atoms::receive) {
    if (a[1] != match_spec) return raise_badarg(p);
  } else if (a[0] != on_load && !is_function_name(a[0])) {
    return is_tracee(a[0]) || a[0].is_atom() || is_of_former_self(a[0]) ? tracee_info(p, session, a[0], a[1])
                                                                        : raise_badarg(p);
  }
  return trap_to(p, info, {number_of(*session), a[0], a[1]});
}

/// Whether the session traces what the atom names, as trace:session_info/1 means it. Messages are
/// traced while their pattern is on.
bool traces_what(TraceSession& session, Term what, Heap& scratch) {
  static const Term any = intern_atom("any"), new_ports = intern_atom("new_ports");
  if (what == any) return true;
  if (what == atoms::send) return send_pattern_term(session, scratch) != atoms::false_;
  if (what == atoms::receive) return receive_pattern_term(session, scratch) != atoms::false_;
  return what == new_ports ? session.new_ports.any() : session.new_processes.any();
}

/// Returns the sessions that trace something: the oldest first, the default session last.
Term sessions_of(Process& p, Term what) {
  static const Term any = intern_atom("any"), on_load = intern_atom("on_load");
  if (is_tracee(what)) return ask_for_info(p, 0, what, intern_atom("session"));
  if (!what.is_atom() || (what != any && !is_known_to_info(what))) return raise_badarg(p);
  if (what == on_load) return session_list(p, sessions_with_on_load_pattern());
  std::vector<SessionRef> all = all_sessions();
  std::ranges::rotate(all, all.begin() + 1);
  Arena scratch;
  std::erase_if(all, [&](const SessionRef& session) { return !traces_what(*session, what, scratch); });
  return session_list(p, all);
}

}  // namespace

Term bif_erlang_trace_info_2(Process& p, const Term* a) { return trace_info_in(p, default_session(), a); }

/// (Session, What, Item), or (any, What, session): the sessions that trace it.
Term bif_erts_internal_trace_info_3(Process& p, const Term* a) {
  static const Term any = intern_atom("any"), item = intern_atom("session");
  if (a[0] != any) {
    const SessionRef session = named_session(a[0]);
    return session ? trace_info_in(p, session, a + 1) : refuse_ended(p);
  }
  if (a[2] != item) return raise_badarg(p);
  static Export* const info = export_entry(intern_atom("vmrun_trace"), intern_atom("sessions"), 1);
  if (is_function_name(a[1])) return trap_to(p, info, {a[1]});
  const Term list = sessions_of(p, a[1]);
  return !list || list == atoms::undefined ? list : new_tuple(p.heap, item, list);
}
Term bif_vmrun_trace_sessions_of_function_1(Process& p, const Term* a) {
  const Term name[] = {a[0].element(0), a[0].element(1), a[0].element(2)};
  return session_list(p, sessions_with_pattern(function_name(name)));
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
/// (Session, send | receive, Bool, a specification, or nil for all messages).
Term bif_vmrun_trace_set_message_pattern_4(Process&, const Term* a) {
  const MessagePattern pattern{a[2] == atoms::true_, a[3]};
  if (const SessionRef session = session_of(a[0]))
    (a[1] == atoms::send ? set_send_pattern : set_receive_pattern)(*session, pattern);
  return atoms::true_;
}
Term bif_vmrun_trace_message_pattern_2(Process& p, const Term* a) {
  const SessionRef session = session_of(a[0]);
  if (!session) return atoms::true_;
  return (a[1] == atoms::send ? send_pattern_term : receive_pattern_term)(*session, p.heap);
}
Term bif_vmrun_trace_counts_memory_0(Process&, const Term*) {
  return bool_term(release_has(Trait::kCallMemory));
}
/// What trace_info(Function, meta) says of a function that is traced otherwise only.
Term bif_vmrun_trace_unset_meta_0(Process&, const Term*) {
  return release_has(Trait::kUnsetMetaFalse) ? atoms::false_ : Term::nil();
}
/// Whether the session has a tracer of its own, so that requests do not name one.
Term bif_vmrun_trace_has_tracer_1(Process&, const Term* a) {
  const SessionRef session = session_of(a[0]);
  return bool_term(session && session->tracer);
}

namespace {

/// Arguments: kinds, as the bits of call_pattern.hpp; true, false, restart or pause; a
/// specification or nil; the meta tracer, {tracer, …}, or nil. The module vmrun_trace has checked
/// them. The meta tracer of a session is the session's own, if it has one.
class ChangeOfTerms {
 public:
  ChangeOfTerms(const TraceSession& session, Term kinds, Term action, Term specification, Term tracer) {
    using Action = CallPatternChange::Action;
    static const Term pause = intern_atom("pause"), restart = intern_atom("restart");
    change_.kinds = static_cast<unsigned>(kinds.small_value());
    change_.action = action == pause           ? Action::kPause
                     : action == restart       ? Action::kRestart
                     : action == atoms::false_ ? Action::kOff
                                               : Action::kOn;
    change_.specification = specification;
    TraceFlags named;
    if (session.tracer) change_.meta = session.tracer->retain();
    else if (read_tracer(tracer, &named)) change_.meta = Tracer::create(named.to, named.state);
  }
  ~ChangeOfTerms() {
    if (change_.meta) change_.meta->release();
  }
  ChangeOfTerms(const ChangeOfTerms&) = delete;
  const CallPatternChange& operator*() const { return change_; }

 private:
  CallPatternChange change_;
};

}  // namespace

/// vmrun_trace:set_pattern(Session, {M, F, A}, Kinds, Action, Specification, Tracer)
Term bif_vmrun_trace_set_pattern_6(Process&, const Term* a) {
  const Term name[] = {a[1].element(0), a[1].element(1), a[1].element(2)};
  if (const SessionRef session = session_of(a[0]))
    change_call_pattern(session, function_name(name), *ChangeOfTerms(*session, a[2], a[3], a[4], a[5]));
  return atoms::true_;
}
Term bif_vmrun_trace_set_on_load_pattern_5(Process&, const Term* a) {
  if (const SessionRef session = session_of(a[0]))
    change_on_load_pattern(session, *ChangeOfTerms(*session, a[1], a[2], a[3], a[4]));
  return atoms::true_;
}
Term bif_vmrun_trace_use_breakpoints_0(Process&, const Term*) {
  use_breakpoints();
  return atoms::true_;
}
Term bif_vmrun_trace_after_slices_0(Process& p, const Term*) { return after_slices(p); }
Term bif_vmrun_trace_is_tracer_1(Process&, const Term* a) {
  TraceFlags named;
  return bool_term(read_tracer(a[0], &named));
}
// What a pattern is set for is asked of these, whose calls nobody traces: erlang:loaded/0 and its
// like would be counted.

Term bif_vmrun_trace_modules_0(Process& p, const Term* a) { return bif_erlang_loaded_0(p, a); }
/// (Module, functions | exports): [{Name, Arity}], with its built-in functions. A module that is
/// not loaded has those alone.
Term bif_vmrun_trace_functions_2(Process& p, const Term* a) {
  const Term written = current_module(a[0]) ? bif_erlang_get_module_info_2(p, a) : Term::nil();
  const auto is_written = [&](Term name, Term arity) {
    for (Term rest = written; rest.is_list(); rest = rest.tail())
      if (rest.head().element(0) == name && rest.head().element(1) == arity) return true;
    return false;
  };
  ListBuilder list(p.heap);
  for (const BifRow& row : std::span(kBifRows, kBifRowCount)) {
    if (atom_text(a[0]) != row.module || !row.exists()) continue;
    const Term name = intern_atom(row.name), arity = Term::small(row.arity);
    if (!is_written(name, arity)) list.add(new_tuple(p.heap, name, arity));
  }
  return list.finish(written);
}
/// (M, F, A): false, local or, for exported and built-in functions, global.
Term bif_vmrun_trace_exists_3(Process& p, const Term* a) {
  if (bif_erlang_is_builtin_3(p, a) == atoms::true_ || bif_erlang_function_exported_3(p, a) == atoms::true_)
    return atoms::global;
  const Module* m = current_module(a[0]);
  if (!m) return atoms::false_;
  const auto is_it = [&](std::uint32_t word) {
    const auto& f = *reinterpret_cast<const FunctionHeader*>(m->begin() + word);
    return f.function == a[1] && Term::small(f.arity) == a[2];
  };
  return std::ranges::any_of(m->functions, is_it) ? atoms::local : atoms::false_;
}
/// (Session, M, F, A)
Term bif_vmrun_trace_pattern_4(Process& p, const Term* a) {
  const SessionRef session = session_of(a[0]);
  return session ? call_pattern_term(*session, function_name(a + 1), p.heap) : atoms::undefined;
}
Term bif_vmrun_trace_on_load_pattern_1(Process& p, const Term* a) {
  const SessionRef session = session_of(a[0]);
  return session ? on_load_pattern_term(*session, p.heap) : atoms::undefined;
}

Term bif_erlang_trace_pattern_2(Process& p, const Term* a) {
  static Export* const target = export_entry(intern_atom("vmrun_trace"), intern_atom("trace_pattern"), 2);
  return trap_to(p, target, {a[0], a[1]});
}
Term bif_erlang_trace_pattern_3(Process& p, const Term* a) {
  static Export* const target = export_entry(intern_atom("vmrun_trace"), intern_atom("trace_pattern"), 3);
  return trap_to(p, target, {a[0], a[1], a[2]});
}
/// (Session, What, Specification, Flags)
Term bif_erts_internal_trace_pattern_4(Process& p, const Term* a) {
  static Export* const target = export_entry(intern_atom("vmrun_trace"), intern_atom("trace_pattern"), 5);
  const SessionRef session = named_session(a[0]);
  // The last argument names the session in a report of an error.
  return session ? trap_to(p, target, {number_of(*session), a[1], a[2], a[3], a[0]}) : raise_badarg(p);
}
Term trace_pattern_cause(Process&, unsigned, const Term*) { return intern_atom("session"); }

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
