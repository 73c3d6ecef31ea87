// SPDX-License-Identifier: Apache-2.0
#include "probes/attach/tracing_session.hpp"

#include <algorithm>

#include "probes/attach/firing.hpp"
#include "probes/attach/machine_host.hpp"
#include "probes/engine/operations.hpp"
#include "probes/inside.hpp"

namespace vmrun::attach {
namespace {

/// Whether a probe that fires in the middle of a slice asks where the process is.
bool asks_for_places(const d::Program& program) {
  const auto asks = [](const d::Instruction& i) {
    switch (i.operation) {
      case d::Operation::kFstack:
      case d::Operation::kKeystack: return true;
      case d::Operation::kBuiltin:
      case d::Operation::kKeybuiltin:
      case d::Operation::kFbuiltin: return i.imm == static_cast<std::int32_t>(d::Builtin::kMfa);
      default: return false;
    }
  };
  return std::ranges::any_of(program.clauses, [&](const d::Clause& c) {
    const auto is_anywhere = [](const d::Enabled& e) {
      return e.probe < d::kFirstFunctionProbe && !fires_between_slices(e.probe);
    };
    return std::ranges::any_of(c.probes, is_anywhere) &&
           (std::ranges::any_of(c.body, asks) || std::ranges::any_of(c.predicate, asks));
  });
}

/// Whether only clocks fire, and BEGIN, END and ERROR.
bool only_clocks_fire(const d::Program& program) {
  return std::ranges::all_of(program.clauses, [](const d::Clause& c) {
    return std::ranges::all_of(c.probes, [](const d::Enabled& e) { return e.probe >= d::kFirstTimerProbe; });
  });
}

}  // namespace

std::unique_ptr<TracingSession> TracingSession::open(d::Program program, std::string& why) {
  std::unique_ptr<TracingSession> made(new TracingSession);
  made->uses_self_ =
      std::ranges::any_of(program.variables, [](const d::Variable& v) { return v.scope == d::Scope::kSelf; });
  made->uses_places_ = asks_for_places(program);
  made->waits_for_clocks_ = only_clocks_fire(program);
  made->session_ = d::Session::open(std::move(program), machine_host(), why);
  if (!made->session_) made.reset();
  return made;
}

TracingSession::~TracingSession() {
  if (!session_) return;
  stop_watching();
  remove_session(*session_);
  session_.reset();  // this lowers the probes
}

void TracingSession::go() {
  if (running_) return;
  running_ = true;
  if (uses_self_) tell_ends(true);
  // From its next slice on, each process runs the instructions that store where it is.
  if (uses_places_) probe::raise_watch("calls");
  add_session(*session_);
  (void)session_->begin();
}

void TracingSession::end() {
  if (!running_) return;
  stop_watching();
  session_->end();
  remove_session(*session_);
}

void TracingSession::tick() {
  if (running_) session_->tick();
}

void TracingSession::stop_watching() {
  if (running_ && uses_places_) probe::lower_watch("calls");
  running_ = false;
}

}  // namespace vmrun::attach
