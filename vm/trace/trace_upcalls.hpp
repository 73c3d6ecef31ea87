// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "vm/base/upcall.hpp"
#include "vm/term/term.hpp"

namespace vmrun {

struct Fragment;
struct FunctionHeader;
struct Process;
struct TracedCall;
struct TraceSession;
using SessionRef = std::shared_ptr<TraceSession>;

/// What vm/trace needs of higher layers. Any thread, where nothing else is said.
struct TraceUpcalls {
  // ---- Where events go ----

  /// Sends a message of the machine's own. False: there is no such process.
  Upcall<bool(Term pid, Fragment* f)> send_event;
  /// Ports that trace, which get events as bytes. False: the port is gone.
  Upcall<bool(Term port)> port_is_there;
  Upcall<bool(Term port, const std::string& bytes)> send_event_to_port;
  /// Modules of native code that trace: whether the module has enabled/3 and trace/5.
  Upcall<bool(Term module)> native_is_there;
  /// Calls PREFIX or, where the module has it, PREFIX_GROUP, which may find the process `self` in
  /// its environment. What that returns, if it is an atom; the non-value when there is nothing to
  /// call.
  Upcall<Term(Term module, std::string_view prefix, std::string_view group, Term self, const Term* arguments,
              unsigned arity)>
      call_native;

  // ---- Calls and messages, in the thread of the process ----

  /// Whether a newer version of a function's module is current: as in OTP patterns do not apply to
  /// it any more.
  Upcall<bool(const FunctionHeader& f)> is_replaced;
  /// Whether anybody awaits the end of a call that began during that watch.
  Upcall<bool(std::uint32_t function, std::uint32_t watch)> is_end_awaited;
  /// Runs a match specification for a call in p: whether a clause matches.
  Upcall<bool(Process& p, Term specification, Term arguments, TracedCall& call)> match_call;
  /// Matches a message, for a session. *message: what goes along with the event, true for nothing,
  /// false when the event is not reported.
  Upcall<bool(Process& p, const SessionRef& session, Term specification, Term arguments, Term* message)>
      match_message;

  // ---- Schedulers and the system profile ----

  /// The scheduler whose thread this is, 0 for none.
  Upcall<unsigned()> scheduler_number;
  /// Marks all ports there are: kProfilePorts and kProfileExclusive, or neither.
  Upcall<void(std::uint32_t what)> mark_ports;
  /// Sets each scheduler's note whether it is reported as idle; returns how many are busy.
  Upcall<unsigned()> note_idle_schedulers;
};
inline constinit TraceUpcalls trace_upcalls;

}  // namespace vmrun
