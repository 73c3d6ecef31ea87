// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <utility>

#include "vm/base/microstate.hpp"
#include "vm/message/request.hpp"
#include "vm/port/port.hpp"
#include "vm/port/task.hpp"
#include "vm/process/bif.hpp"
#include "vm/trace/trace.hpp"

/// Operations on a port that a process waits for. When the port is idle, they run at once;
/// otherwise they become a task that sends an answer. For the functions of operations.hpp; called
/// in the thread that runs the process.
namespace vmrun {

/// The reductions that a call of a driver costs.
inline constexpr SWord kCallbackReductions = 200;

/// The outcome of an operation: a value, or a reason to raise.
struct Outcome {
  Term value;
  bool is_error = false;
};

/// The states of a port in which an operation is allowed: open, or also closing with data to flush.
enum class AllowedStates : std::uint8_t { kOpen, kOpenOrClosing };

inline bool is_in(const Port& p, AllowedStates allowed) {
  return p.is_open() || (allowed == AllowedStates::kOpenOrClosing &&
                         p.state.load(std::memory_order_acquire) == Port::State::kClosing);
}

inline Outcome failure(Term reason) { return {reason, true}; }

/// An operation on a port that is busy with other tasks; the caller waits for its answer.
/// operate(port, heap, caller) builds its result in the heap.
template <class F>
struct OperationTask final : PortTask {
  OperationTask(Process& p, AllowedStates allowed, F operate, Outcome if_gone)
      : PortTask(p.id),
        request(start_question(p)),
        allowed(allowed),
        operate(std::move(operate)),
        if_gone(if_gone) {}
  void run(Port& p) override {
    if (!is_in(p, allowed)) return drop(p.id);
    Arena heap;
    const Outcome outcome = operate(p, heap, from);
    answer_question(from, request, outcome.value, outcome.is_error);
  }
  void drop(Term) override { answer_question(from, request, if_gone.value, if_gone.is_error); }
  Word request;  // the answer that the caller waits for (process/request.hpp)
  AllowedStates allowed;
  F operate;
  Outcome if_gone;
};

/// Reports an operation that a process runs in a port at once. Meanwhile the port is reported as
/// `in`, and the process as `out` (for tracing with running_procs) and as inactive (for an
/// exclusive profile). Microstate accounting counts the thread as in a port.
class ReportedOperation {
 public:
  ReportedOperation(Process& p, Port& port, Term name);
  ~ReportedOperation();
  ReportedOperation(const ReportedOperation&) = delete;

 private:
  Process& process_;
  Port& port_;
  const Term name_;
  const InMeasuredMicrostate runs_{Microstate::kPort};
};

inline bool are_operations_reported(const Process& p, const Port& port) {
  return is_traced(p, kTraceRunningProcs) ||
         port.tracing.is_on(kTraceRunningPorts | kPortProfiledExclusive) ||
         microstates_measured.load(std::memory_order_relaxed);
}
template <class F>
[[gnu::cold, gnu::noinline]] auto run_reported(Process& p, Port& port, Term name, F& operate) {
  const ReportedOperation reported(p, port, name);
  return operate();
}
/// Runs the operation. name: the non-value for what is not an operation to tracing.
template <class F>
auto run_at_once(Process& p, Port& port, Term name, F operate) {
  if (name && are_operations_reported(p, port)) [[unlikely]]
    return run_reported(p, port, name, operate);
  return operate();
}

inline Term result(Process& p, Outcome outcome) {
  return outcome.is_error ? raise_error(p, outcome.value) : outcome.value;
}

/// Runs the operation at once when the port is idle, else as a task. name: the operation's name,
/// for tracing.
template <class F>
Term operate_on(Process& p, Port& port, AllowedStates allowed, Term name, F operate,
                Outcome if_gone = failure(atoms::badarg)) {
  if (!try_hold_port(port)) {
    queue_task(port, new OperationTask<F>(p, allowed, std::move(operate), if_gone));
    return take_answer(p);
  }
  const Outcome outcome = is_in(port, allowed)
                              ? run_at_once(p, port, name, [&] { return operate(port, p.heap, p.id); })
                              : if_gone;
  finish_closing(port);
  release_port(port);
  return result(p, outcome);
}

}  // namespace vmrun
