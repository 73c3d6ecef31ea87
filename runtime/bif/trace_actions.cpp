// SPDX-License-Identifier: Apache-2.0
#include "runtime/bif/trace_actions.hpp"

#include <algorithm>

#include "runtime/bif/bif_upcalls.hpp"
#include "runtime/bif/bifs_generated.hpp"
#include "runtime/bif/display.hpp"
#include "runtime/bif/support.hpp"
#include "runtime/bif/system_texts.hpp"
#include "runtime/bif/trace_flags.hpp"
#include "runtime/ets/match_spec.hpp"
#include "vm/code/exceptions.hpp"
#include "vm/heap/copy.hpp"
#include "vm/message/request.hpp"
#include "vm/process/process_table.hpp"
#include "vm/process/registry.hpp"
#include "vm/trace/call_trace.hpp"
#include "vm/trace/message_pattern.hpp"
#include "vm/trace/seq_trace.hpp"

/// The functions of tracing for match specifications of calls, and match_spec_test/3, which tries a
/// specification out.
namespace vmrun {
namespace {

using ets::TraceFunction;

/// Returns the local process that a specification names, or nil when there is no such process.
Term named_process(Term name) {
  const Term pid = name.is_atom() ? whereis(name) : name;
  return pid.is_local_pid() && process_table.find(pid) ? pid : Term::nil();
}

class Actions final : public ets::TraceActions {
 public:
  /// session: of the pattern. call: nullptr when there is no call. for_real: false when a
  /// specification is only tried out; then token, control word and silence do not change.
  Actions(const SessionRef& session, TracedCall* call, bool for_real)
      : session_(session), call_(call), for_real_(for_real) {}

  Term message = atoms::true_;
  bool returns = false, exceptions = false;

  Term call(Process& p, TraceFunction function, const Term* a, Word count) override {
    switch (function) {
      case TraceFunction::kMessage: message = a[0]; return atoms::true_;
      case TraceFunction::kExceptionTrace: exceptions = true; return atoms::true_;
      case TraceFunction::kReturnTrace: returns = true; return atoms::true_;
      case TraceFunction::kIsSeqTrace: return bool_term(has_seq_token(p));
      case TraceFunction::kSetSeqToken: return set_seq_token(p, a);
      case TraceFunction::kGetSeqToken: return seq_token_term(p, p.heap);
      case TraceFunction::kDisplay: return display(a[0]);
      case TraceFunction::kProcessDump: return process_dump(p);
      case TraceFunction::kEnableTrace: return switch_flag(p, a, count, true);
      case TraceFunction::kDisableTrace: return switch_flag(p, a, count, false);
      case TraceFunction::kTrace: return change_flags(p, a, count);
      case TraceFunction::kCaller: return caller(p, false);
      case TraceFunction::kCallerLine: return caller(p, true);
      case TraceFunction::kCurrentStacktrace: return stacktrace(p, count ? a[0].small_value() : INT32_MAX);
      case TraceFunction::kSilent: return silent(p, a[0]);
      case TraceFunction::kGetControlWord: return control_word();
      case TraceFunction::kSetControlWord: return set_control_word(a[0]);
    }
    return kNonValue;
  }

 private:
  static Term display(Term t) {
    write_past_io(term_text(t) + "\n");
    return atoms::true_;
  }

  Term caller(Process& p, bool with_line) const {
    return call_ ? caller_of(p, *call_, with_line, p.heap) : atoms::undefined;
  }

  Term stacktrace(Process& p, SWord depth) const {
    const auto most = static_cast<SWord>(backtrace_depth.load(std::memory_order_relaxed));
    const Word* innermost = call_ ? awaited_return(p, *call_) : p.ip;
    return stack_frames_from(p, innermost, p.heap, static_cast<unsigned>(std::min(depth, most)));
  }

  Term silent(Process& p, Term on) const {
    if (for_real_ && (on == atoms::true_ || on == atoms::false_))
      set_trace_flag(p, session_, on == atoms::true_, kTraceSilent);
    return atoms::true_;
  }

  static Term control_word() { return Term::small(trace_control_word.load(std::memory_order_relaxed)); }
  Term set_control_word(Term value) const {
    SWord word;
    if (!small_in_range(value, 0, UINT32_MAX, &word)) return kNonValue;
    const Term old = control_word();
    if (for_real_) trace_control_word.store(static_cast<std::uint32_t>(word), std::memory_order_relaxed);
    return old;
  }

  Term set_seq_token(Process& p, const Term* a) const {
    if (!for_real_) return bif_erlang_seq_trace_info_1(p, a);
    // The value may be a part of the specification, and the token can outlive that.
    const Term own[] = {a[0], copy_to(p.heap, a[1])};
    return bif_erlang_seq_trace_2(p, own) ? atoms::true_ : kNonValue;
  }

  /// Returns the tracer of the session, or p's tracer in it; nullptr when there is none.
  KeptTracer own_tracer(Process& p) const {
    const Tracing* t = tracing_of(p, session_->number);
    Tracer* tracer = t ? t->tracer : session_->tracer;
    return KeptTracer(tracer ? tracer->retain() : nullptr);
  }

  /// {enable_trace, Flag} and {enable_trace, Pid, Flag}; the process gets the tracer of this one.
  Term switch_flag(Process& p, const Term* a, Word count, bool on) const {
    const std::uint32_t bit = trace_flag_bit(a[count - 1]);
    const Term who = count == 2 ? named_process(a[0]) : p.id;
    if (!bit || who.is_nil()) return kNonValue;
    set_flags(p, who, on ? 0 : bit, on ? bit : 0, own_tracer(p).get());
    return atoms::true_;
  }

  /// {trace, Off, On} and {trace, Pid, Off, On}. Returns whether anything has changed, as far as is
  /// known.
  Term change_flags(Process& p, const Term* a, Word count) const {
    TraceFlags off, on;
    const Term who = count == 3 ? named_process(a[0]) : p.id;
    if (who.is_nil() || !read_trace_flags(a[count - 2], &off) || !read_trace_flags(a[count - 1], &on))
      return kNonValue;
    const TraceFlags& named = on.to ? on : off;
    // A session with a tracer of its own has no other.
    if (named.to && session_->tracer) return kNonValue;
    if (!named.to) return set_flags(p, who, off.bits, on.bits, own_tracer(p).get());
    const KeptTracer tracer(Tracer::create(named.to, named.state));
    return set_flags(p, who, off.bits, on.bits, tracer.get());
  }

  /// Another process changes its flags when it handles its signals. Without a tracer all its
  /// tracing ends.
  Term set_flags(Process& p, Term who, std::uint32_t off, std::uint32_t on, Tracer* tracer) const {
    if (who == p.id) return bool_term(tracer && change_tracing(p, session_, off, on, *tracer));
    Arena arena;
    const Term session = Term::small(static_cast<SWord>(session_->number));
    const Term wish =
        tracer ? new_tuple(arena, atoms::trace, Term::small(off), Term::small(on), tracer->to, tracer->state,
                           session)
               : new_tuple(arena, atoms::false_, Term::small(kTraceAll), Term::nil(), Term::nil(), session);
    ask_async(p, who, RequestKind::kTrace, wish, Term::nil(), Term::nil(), atoms::false_);
    return atoms::true_;
  }

  Term process_dump(Process& p) const {
    const std::string text =
        call_ ? bif_upcalls.running_process_text(p, call_->function.entry(), awaited_return(p, *call_))
              : bif_upcalls.running_process_text(p, p.ip, nullptr);
    return text_binary(p.heap, text);
  }

  const SessionRef& session_;
  TracedCall* const call_;
  const bool for_real_;
};

}  // namespace

bool match_traced_call(Process& p, Term specification, Term arguments, TracedCall& call) {
  Actions actions(call.session, &call, true);
  ets::MatchSpec spec(p, specification, ets::MatchSpec::Dialect::kTrace);
  if (!spec.valid() || !spec.run_for_call(arguments, actions)) return false;
  call.message = actions.message;
  call.returns = actions.returns || actions.exceptions;
  call.exceptions = actions.exceptions;
  return true;
}

bool match_traced_message(Process& p, const SessionRef& session, Term specification, Term arguments,
                          Term* message) {
  Actions actions(session, nullptr, true);
  ets::MatchSpec spec(p, specification, ets::MatchSpec::Dialect::kSend);
  if (!spec.valid() || !spec.run_for_call(arguments, actions)) return false;
  *message = actions.message;
  return true;
}

namespace {

Term error_list(Process& p, const ets::MatchSpec& spec) {
  ListBuilder list(p.heap);
  for (const std::string& why : spec.errors())
    list.add(new_tuple(p.heap, atoms::error, text_list(p.heap, why)));
  return new_tuple(p.heap, atoms::error, list.finish());
}

Term test_for_calls(Process& p, Term arguments, Term specification) {
  if (list_length(arguments) < 0) return raise_badarg(p);
  ets::MatchSpec spec(p, specification, ets::MatchSpec::Dialect::kTrace);
  if (!spec.valid()) return error_list(p, spec);
  Actions actions(default_session(), nullptr, false);
  const bool matches = spec.run_for_call(arguments, actions);
  ListBuilder flags(p.heap);
  if (matches && actions.returns) flags.add(intern_atom("return_trace"));
  if (matches && actions.exceptions) flags.add(intern_atom("exception_trace"));
  return new_tuple(p.heap, atoms::ok, matches ? actions.message : atoms::false_, flags.finish(), Term::nil());
}

}  // namespace

/// Returns {ok, Result, Flags, Warnings}, where Warnings is always empty, or {error, [{error,
/// Text}]}.
Term bif_erlang_match_spec_test_3(Process& p, const Term* a) {
  if (a[2] == atoms::trace) return test_for_calls(p, a[0], a[1]);
  if (a[2] != atoms::table) return raise_badarg(p);
  ets::MatchSpec spec(p, a[1]);
  if (!spec.valid()) return error_list(p, spec);
  const Term result = spec.run(a[0]);
  return new_tuple(p.heap, atoms::ok, result ? result : atoms::false_, Term::nil(), Term::nil());
}

}  // namespace vmrun
