// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <string_view>

#include "vm/process/flags.hpp"
#include "vm/term/atom.hpp"
#include "vm/trace/tracer.hpp"

/// The tracers of processes and ports, and the way that an event takes to its tracer: as a message
/// {trace, Tracee, Event, …} to a process, in the external format to a port, by the probe `trace`
/// with the module dyntrace, or by a call of native code with any other module (erl_tracer(3)). A
/// thread that has the tracee may call. process/flags.hpp has what a tracee is traced for.
namespace vmrun {

/// The receiver of events. Shared by all tracees it was set for; immutable.
struct Tracer {
  std::atomic<std::uint32_t> references{1};
  Term to;                   // local pid or port, or the name of a module
  Term state = Term::nil();  // with a module
  Arena arena;               // of state
  static Tracer* create(Term to, Term state);
  Tracer* retain() {
    references.fetch_add(1, std::memory_order_relaxed);
    return this;
  }
  void release();
  bool same(const Tracer& other) const;
  /// Whether it is a module of native code that a program has loaded.
  bool is_native() const { return to.is_atom() && to != atoms::dyntrace; }
};

/// A counted reference to a tracer, or nullptr, for as long as this object lives.
class KeptTracer {
 public:
  explicit KeptTracer(Tracer* owned) : tracer_(owned) {}
  KeptTracer(KeptTracer&& other) noexcept : tracer_(other.tracer_) { other.tracer_ = nullptr; }
  KeptTracer(const KeptTracer&) = delete;
  ~KeptTracer() {
    if (tracer_) tracer_->release();
  }
  Tracer* get() const { return tracer_; }

 private:
  Tracer* tracer_;
};

/// Whether the process, port or native code exists.
bool is_there(const Tracer& tracer);
/// Whether it exists, and, if it is native, wants to go on tracing this one.
bool still_traces(const Tracer& tracer, Term tracee);

/// Whether a native tracer wants to be told of calls of this one.
bool wants_calls(const Tracer& tracer, Term tracee);

/// An event of a process or port.
struct TraceEvent {
  Term tracee;
  std::uint32_t flags = 0;  // for the time stamp and the scheduler's number
  Term event, what, extra;  // extra may be the non-value
  Term result;              // of a match specification that returns something else than true
};
/// Reports the event. Returns false if the tracer, which exists, does not want to trace this one
/// any more.
[[nodiscard]] bool tell(const Tracer& tracer, const TraceEvent& event);

/// For sequential tracing: whether a native tracer wants an event of this process; reports the
/// event.
bool wants_seq_trace(const Tracer& tracer, Term tracee);
void tell_seq_trace(const Tracer& tracer, Term label, Term info, TraceStamp stamp);

}  // namespace vmrun
