// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <atomic>
#include <cstdint>
#include <mutex>
#include <optional>
#include <random>
#include <vector>

#include "runtime/bif/bifs_generated.hpp"
#include "runtime/bif/support.hpp"
#include "vm/code/code_server.hpp"
#include "vm/code/function_probes.hpp"
#include "vm/code/line_breakpoints.hpp"
#include "vm/code/module.hpp"
#include "vm/heap/copy.hpp"
#include "vm/lifecycle/inspect.hpp"
#include "vm/message/request.hpp"
#include "vm/message/send.hpp"
#include "vm/process/dirty_job.hpp"
#include "vm/process/process_table.hpp"
#include "vm/term/map.hpp"

/// erl_debugger of OTP 28, and code:get_debug_info/1: breakpoints on lines, and what a process that
/// is suspended has on its stack. The functions exist with +D only.
namespace vmrun {
namespace {

bool is_supported() { return debugger_supported.load(std::memory_order_relaxed); }

/// The process that is told of breakpoints; there is at most one.
class Debugger {
 public:
  /// Returns the number of the session, or nothing when there is a debugger that lives.
  std::optional<std::uint32_t> enter(Term pid) {
    const std::lock_guard lock(mutex_);
    if (lives()) return std::nullopt;
    pid_ = pid;
    session_ = static_cast<std::uint32_t>(random_());
    return session_;
  }
  /// Returns false when the process is the debugger, in another session.
  [[nodiscard]] bool leave(Term pid, SWord session) {
    const std::lock_guard lock(mutex_);
    if (pid_ != pid) return true;
    if (session_ != session) return false;
    pid_ = Term::nil();
    return true;
  }
  struct Session {
    Term pid = Term::nil();  // nil: there is no debugger
    std::uint32_t number = 0;
  };
  Session session() {
    const std::lock_guard lock(mutex_);
    return lives() ? Session{pid_, session_} : Session{};
  }

 private:
  bool lives() const { return pid_.is_local_pid() && process_table.find(pid_); }

  std::mutex mutex_;
  Term pid_ = Term::nil();
  std::uint32_t session_ = 0;
  std::minstd_rand random_{std::random_device{}()};
};
Debugger& debugger() {
  static auto& one = *new Debugger;
  return one;
}

Term error_of(Process& p, Term reason) { return new_tuple(p.heap, atoms::error, reason); }
Term error_of(Process& p, const char* what, Term key) {
  return error_of(p, new_tuple(p.heap, intern_atom(what), key));
}

/// #{Line => whether the breakpoint is set} of a function.
Term lines_of(Process& p, const Module& m, std::size_t function) {
  std::vector<Term> pairs;
  const auto end = static_cast<std::uint32_t>(m.end_of_function(function) - m.begin());
  auto it =
      std::ranges::lower_bound(m.line_breakpoints, m.functions[function], {}, &Module::LineBreakpoint::word);
  for (; it != m.line_breakpoints.end() && it->word < end; ++it) {
    pairs.push_back(Term::small(it->line));
    pairs.push_back(bool_term(is_line_breakpoint_on(m.begin() + it->word)));
  }
  return map_from_pairs(p.heap, pairs.data(), pairs.size() / 2);
}

const FunctionHeader& header(const Module& m, std::size_t function) {
  return *reinterpret_cast<const FunctionHeader*>(m.begin() + m.functions[function]);
}

bool is_of_another(const Process& p, Term pid) { return pid.is_local_pid() && pid != p.id; }

/// Asks a process about itself; one that has ended counts as running.
Term ask_for(Process& p, Term pid, Inspected what, SWord frame, SWord slot, SWord most) {
  static const Term running = intern_atom("running");
  Term words[5];
  Term* hp = words;
  const Term question = make_tuple(hp, Term::small(static_cast<SWord>(what)), Term::small(frame),
                                   Term::small(slot), Term::small(most));
  return ask(p, pid, RequestKind::kInspect, question, running);
}

constexpr SWord kMost = INT32_MAX;

}  // namespace

Term bif_code_get_debug_info_1(Process& p, const Term* a) {
  const Module* m = a[0].is_atom() ? current_module(a[0]) : nullptr;
  return m ? m->debug_info : raise_badarg(p);
}

Term bif_erl_debugger_supported_0(Process&, const Term*) { return bool_term(is_supported()); }

Term bif_erl_debugger_instrumentations_0(Process& p, const Term*) {
  static const Term line_breakpoint = intern_atom("line_breakpoint");
  if (!is_supported()) return raise_error(p, atoms::undef);
  Term pairs[] = {line_breakpoint, bool_term(line_breakpoints_on.load(std::memory_order_relaxed))};
  return map_from_pairs(p.heap, pairs, 1);
}

/// It counts for modules that are loaded afterwards.
Term bif_erl_debugger_toggle_instrumentations_1(Process& p, const Term* a) {
  static const Term line_breakpoint = intern_atom("line_breakpoint");
  if (!is_supported()) return raise_error(p, atoms::undef);
  if (!a[0].is_map()) return raise_badarg(p);
  const Term value = map_get(a[0], line_breakpoint);
  bool on = false;
  if (map_size(a[0]) != (value ? 1 : 0) || (value && !read_boolean(value, &on))) return raise_badarg(p);
  if (value) line_breakpoints_on.store(on, std::memory_order_relaxed);
  return atoms::ok;
}

Term bif_erl_debugger_register_1(Process& p, const Term* a) {
  static const Term already_exists = intern_atom("already_exists");
  if (!is_supported()) return raise_error(p, atoms::undef);
  if (!a[0].is_local_pid()) return raise_badarg(p);
  const auto session = debugger().enter(a[0]);
  return session ? new_tuple(p.heap, atoms::ok, Term::small(*session)) : error_of(p, already_exists);
}

Term bif_erl_debugger_unregister_2(Process& p, const Term* a) {
  if (!is_supported()) return raise_error(p, atoms::undef);
  if (!a[0].is_local_pid() || !a[1].is_small()) return raise_badarg(p);
  return debugger().leave(a[0], a[1].small_value()) ? atoms::ok : raise_badarg(p);
}

Term bif_erl_debugger_whereis_0(Process& p, const Term*) {
  if (!is_supported()) return raise_error(p, atoms::undef);
  const Term pid = debugger().session().pid;
  return pid.is_nil() ? atoms::undefined : pid;
}

Term bif_erl_debugger_breakpoint_3(Process& p, const Term* a) {
  if (!is_supported()) return raise_error(p, atoms::undef);
  SWord line;
  bool on;
  if (!a[0].is_atom() || !small_in_range(a[1], 1, INT32_MAX, &line) || !read_boolean(a[2], &on))
    return raise_badarg(p);
  switch (set_line_breakpoint(a[0], static_cast<Word>(line), on)) {
    case LineBreakpointResult::kDone: return atoms::ok;
    case LineBreakpointResult::kNoModule: return error_of(p, "badkey", a[0]);
    case LineBreakpointResult::kUnsupportedModule: return error_of(p, "unsupported", a[0]);
    case LineBreakpointResult::kNoLine: return error_of(p, "badkey", a[1]);
    case LineBreakpointResult::kUnsupportedLine: return error_of(p, "unsupported", a[1]);
  }
  return kNonValue;
}

Term bif_erl_debugger_breakpoints_1(Process& p, const Term* a) {
  if (!is_supported()) return raise_error(p, atoms::undef);
  if (!a[0].is_atom()) return raise_badarg(p);
  if (came_back(p)) return run_on_dirty(p, bif_erl_debugger_breakpoints_1, a, 1);
  const Module* m = current_module(a[0]);
  if (!m) return error_of(p, atoms::badkey);
  if (too_long(8 * (m->functions.size() + m->line_breakpoints.size())))
    return run_on_dirty(p, bif_erl_debugger_breakpoints_1, a, 1);
  std::vector<Term> pairs;
  for (std::size_t n = 0; n < m->functions.size(); ++n) {
    const FunctionHeader& f = header(*m, n);
    pairs.push_back(new_tuple(p.heap, f.function, Term::small(f.arity)));
    pairs.push_back(lines_of(p, *m, n));
  }
  return new_tuple(p.heap, atoms::ok, map_from_pairs(p.heap, pairs.data(), pairs.size() / 2));
}

Term bif_erl_debugger_breakpoints_3(Process& p, const Term* a) {
  if (!is_supported()) return raise_error(p, atoms::undef);
  if (!a[0].is_atom() || !a[1].is_atom() || !a[2].is_small()) return raise_badarg(p);
  if (came_back(p)) return run_on_dirty(p, bif_erl_debugger_breakpoints_3, a, 3);
  const Module* m = current_module(a[0]);
  if (!m) return error_of(p, "badkey", a[0]);
  if (too_long(m->functions.size() + 8 * m->line_breakpoints.size()))
    return run_on_dirty(p, bif_erl_debugger_breakpoints_3, a, 3);
  for (std::size_t n = 0; n < m->functions.size(); ++n) {
    const FunctionHeader& f = header(*m, n);
    if (f.function == a[1] && f.arity == a[2].small_value())
      return new_tuple(p.heap, atoms::ok, lines_of(p, *m, n));
  }
  return error_of(p, "badkey", new_tuple(p.heap, a[1], a[2]));
}

/// ({Module, Function, Arity}, Line, Resume): tells the debugger that the caller has met a
/// breakpoint. Returns ok, noproc, or abort for the debugger itself, which goes on.
Term bif_erts_internal_notify_breakpoint_hit_3(Process& p, const Term* a) {
  static const Term event_tag = intern_atom("debugger_event"), breakpoint = intern_atom("breakpoint"),
                    abort = intern_atom("abort");
  if (!is_supported()) return raise_error(p, atoms::undef);
  if (!a[0].is_tuple() || a[0].tuple_arity() != 3 || !a[0].element(0).is_atom() ||
      !a[0].element(1).is_atom() || !a[0].element(2).is_small() || !a[1].is_small() || !a[2].is_fun() ||
      fun_of(a[2])->arity != 0)
    return raise_badarg(p);
  const Debugger::Session session = debugger().session();
  if (session.pid == p.id) return abort;
  if (session.pid.is_nil()) return atoms::noproc;
  Fragment* f = new_fragment(copy_size_words(a[0]) + copy_size_words(a[2]) + 10);
  const Term mfa = copy_into(*f, a[0]), resume = copy_into(*f, a[2]);
  Term* hp = fragment_alloc(*f, 10);
  const Term event = make_tuple(hp, breakpoint, p.id, mfa, a[1], resume);
  f->message = make_tuple(hp, event_tag, Term::small(session.number), event);
  send_from_vm(session.pid, f);
  return atoms::ok;
}

// ---- Suspended processes ----

Term bif_erl_debugger_stack_frames_2(Process& p, const Term* a) {
  SWord most;
  if (!is_supported()) return raise_error(p, atoms::undef);
  if (!is_of_another(p, a[0]) || !small_in_range(a[1], 0, kMost, &most)) return raise_badarg(p);
  return ask_for(p, a[0], Inspected::kFrames, 0, 0, most);
}

Term bif_erl_debugger_peek_stack_frame_slot_4(Process& p, const Term* a) {
  SWord frame, slot, most;
  if (!is_supported()) return raise_error(p, atoms::undef);
  if (!is_of_another(p, a[0]) || !small_in_range(a[1], 0, kMost, &frame) ||
      !small_in_range(a[2], 0, kMost, &slot) || !small_in_range(a[3], 0, kMost, &most))
    return raise_badarg(p);
  return ask_for(p, a[0], Inspected::kSlot, frame, slot, most);
}

Term bif_erl_debugger_xregs_count_1(Process& p, const Term* a) {
  if (!is_supported()) return raise_error(p, atoms::undef);
  return is_of_another(p, a[0]) ? ask_for(p, a[0], Inspected::kRegisterCount, 0, 0, 0) : raise_badarg(p);
}

Term bif_erl_debugger_peek_xreg_3(Process& p, const Term* a) {
  SWord x, most;
  if (!is_supported()) return raise_error(p, atoms::undef);
  if (!is_of_another(p, a[0]) || !small_in_range(a[1], 0, kMost, &x) ||
      !small_in_range(a[2], 0, kMost, &most))
    return raise_badarg(p);
  return ask_for(p, a[0], Inspected::kRegister, 0, x, most);
}

}  // namespace vmrun
