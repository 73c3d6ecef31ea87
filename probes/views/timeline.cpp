// SPDX-License-Identifier: Apache-2.0
#include "probes/views/timeline.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

namespace vmrun::d {
namespace {

// The Erlang processes of a machine form a group, beside its schedulers. Its number is one that no
// process of the system has.
constexpr std::int64_t kProcessesGroup = 1 << 23;
constexpr unsigned kMachineShift = 48;  // of identifiers that are unique in one machine only

std::string_view text(const Value& value) { return value.bytes; }

constexpr std::string_view kSystemCalls = "system calls";

}  // namespace

// The words with which the printfs of timeline.d begin, and how many values follow.
const Timeline::Word Timeline::kWords[] = {
    {"run", 4, &Timeline::run},
    {"stop", 2, &Timeline::stop},
    {"runnable", 1, &Timeline::runnable},
    {"running", 2, &Timeline::waited},
    {"collect", 3, &Timeline::collect},
    {"collected", 2, &Timeline::collected},
    {"send", 4, &Timeline::send},
    {"receive", 4, &Timeline::receive},
    {"spawn", 3, &Timeline::spawn},
    {"exit", 2, &Timeline::exit},
    {"signal", 3, &Timeline::signal},
    {"mark", 3, &Timeline::mark},
    {"port-open", 2, &Timeline::port_open},
    {"port", 3, &Timeline::port_event},
    {"port-exit", 2, &Timeline::port_exit},
    {"file", 5, &Timeline::file},
    {"file-work", 2, &Timeline::file_work},
    {"file-worked", 2, &Timeline::file_worked},
    {"file-done", 4, &Timeline::file_done},
};

Timeline::Timeline(std::string& out, std::uint64_t most) : events_(out), most_(most) {}

bool Timeline::take(const Presentation::Event& event, const ActionInfo& action, Values values) {
  const auto [known, is_new] = words_.try_emplace(&action, nullptr);
  if (is_new) {
    const std::string_view word = std::string_view(action.format).substr(0, action.format.find(' '));
    const auto* found = std::ranges::find(kWords, word, &Word::word);
    if (action.kind == ActionKind::kPrintf && found != std::end(kWords)) known->second = found;
  }
  const Word* word = known->second;
  if (word == nullptr || values.size() < word->values) return false;
  if (taken_ >= most_) {
    ++left_out_;
    return true;
  }
  ++taken_;
  last_time_ = std::max(last_time_, event.record.timestamp);
  (this->*word->take)({machine(event.pid), event.record.timestamp, event.record.cpu}, values);
  return true;
}

void Timeline::finish(std::uint64_t dropped) {
  for (auto& [pid, machine] : machines_) {
    for (const auto& [name, port] : machine.ports)
      if (port.is_open) events_.end_span(pid, last_time_, "port", port.id, port.name);
    for (const auto& [id, operation] : machine.file_operations) {
      if (operation.works) events_.end_span(pid, last_time_, "file", id, kSystemCalls);
      events_.end_span(pid, last_time_, "file", id, operation.name);
    }
  }
  events_.finish(last_time_, {{"events", static_cast<std::int64_t>(taken_)},
                              {"left out", static_cast<std::int64_t>(left_out_)},
                              {"dropped", static_cast<std::int64_t>(dropped)}});
}

// ---- What there is ------------------------------------------------------------------------------

Timeline::Machine& Timeline::machine(std::int64_t pid) {
  const auto [at, is_new] = machines_.try_emplace(pid);
  if (is_new) {
    const auto order = static_cast<std::int64_t>(machines_.size());
    at->second.pid = pid;
    at->second.index = machines_.size() - 1;
    events_.add_group(pid, fmt::format("vmrun {}: schedulers, ports, files", pid), 2 * order);
    events_.add_group(kProcessesGroup + pid, fmt::format("vmrun {}: Erlang processes", pid), 2 * order + 1);
  }
  return at->second;
}

Timeline::Process& Timeline::process(Machine& machine, std::string_view pid) {
  const auto number = static_cast<std::int64_t>(machine.processes.size() + 1);
  const auto [at, is_new] = machine.processes.try_emplace(std::string(pid));
  Process& process = at->second;
  if (is_new) {
    process.track = events_.add_track(kProcessesGroup + machine.pid, number);
    process.name = pid;
    events_.name_track(process.track, pid);
  }
  return process;
}

Timeline::Track Timeline::scheduler(Machine& machine, std::uint32_t cpu) {
  const auto [at, is_new] = machine.schedulers.try_emplace(cpu);
  if (is_new) {
    at->second = events_.add_track(machine.pid, cpu);
    events_.name_track(at->second, fmt::format("scheduler {}", cpu));
  }
  return at->second;
}

/// Returns a process that does something. If no slice is open on its track, one begins here.
Timeline::Process& Timeline::running(const At& at, std::string_view pid) {
  Process& p = process(at.machine, pid);
  if (p.state != State::kRunning && p.state != State::kDirty) {
    events_.end_slices(p.track, at.time);
    events_.begin_slice(p.track, at.time, "running");
    p.state = State::kRunning;
  }
  return p;
}

/// Returns a number for an operation on a file: the scheduler that accepted it, and that
/// scheduler's count.
std::uint64_t Timeline::operation_id(const Machine& machine, Values values) {
  return static_cast<std::uint32_t>(values[1].number) | static_cast<std::uint64_t>(values[0].number) << 32 |
         machine.index << kMachineShift;
}

// ---- Processes ----------------------------------------------------------------------------------

/// Values: pid, registered name (or the pid again), label, function.
void Timeline::run(const At& at, Values values) {
  Process& p = process(at.machine, text(values[0]));
  const bool is_registered = text(values[1]) != text(values[0]);
  p.name = fmt::format("{} {}", text(values[is_registered ? 1 : 2]), text(values[0]));
  events_.name_track(p.track, p.name);
  events_.end_slices(p.track, at.time);
  events_.begin_slice(p.track, at.time, text(values[3]), {{"scheduler", std::int64_t{at.cpu}}});
  p.state = State::kRunning;
  p.is_queued = false;
  if (at.cpu == 0) return;
  const Track track = scheduler(at.machine, at.cpu);
  events_.end_slices(track, at.time);
  events_.begin_slice(track, at.time, p.name, {{"at", text(values[3])}});
}

/// Values: pid, function.
void Timeline::stop(const At& at, Values values) {
  Process& p = process(at.machine, text(values[0]));
  const std::string_view where = text(values[1]);
  events_.end_slices(p.track, at.time, {{"until", where}});
  if (p.state != State::kEnded) {
    p.state = p.is_queued ? State::kRunnable : State::kWaiting;
    events_.begin_slice(p.track, at.time, p.is_queued ? "runnable" : "waiting", {{"in", where}});
  }
  if (at.cpu != 0) events_.end_slices(scheduler(at.machine, at.cpu), at.time, {{"until", where}});
}

/// Value: pid. When the process runs, its slice is about to be used up.
void Timeline::runnable(const At& at, Values values) {
  Process& p = process(at.machine, text(values[0]));
  if (p.state == State::kRunning) {
    p.is_queued = true;
    return;
  }
  events_.end_slices(p.track, at.time);
  events_.begin_slice(p.track, at.time, "runnable");
  p.state = State::kRunnable;
}

/// Values: pid, and 0 for a scheduler or another number for dirty ones. The process has waited long
/// enough: a slice begins, or there was only a signal to handle.
void Timeline::waited(const At& at, Values values) {
  Process& p = process(at.machine, text(values[0]));
  if (p.state != State::kRunnable) return;
  events_.end_slices(p.track, at.time);
  p.state = State::kUnseen;
  if (values[1].number == 0) return;
  events_.begin_slice(p.track, at.time, "on a dirty scheduler");
  p.state = State::kDirty;
}

/// Values: pid, minor or major, words needed. A collection outside of a scheduler's thread lies in
/// whatever slice the process is in.
void Timeline::collect(const At& at, Values values) {
  Process& p = at.cpu != 0 ? running(at, text(values[0])) : process(at.machine, text(values[0]));
  events_.begin_slice(p.track, at.time, fmt::format("{} collection", text(values[1])),
                      {{"words needed", values[2].number}});
}

/// Values: pid, words reclaimed.
void Timeline::collected(const At& at, Values values) {
  Process& p = process(at.machine, text(values[0]));
  const bool lies_in_a_slice = p.state != State::kUnseen && p.state != State::kEnded;
  if (events_.open_slices(p.track) > (lies_in_a_slice ? 1U : 0U))  // otherwise it began before the tracing
    events_.end_slice(p.track, at.time, {{"words reclaimed", values[1].number}});
}

/// Values: sender, receiver, words, number of the message.
void Timeline::send(const At& at, Values values) {
  Process& p = running(at, text(values[0]));
  const Process& to = process(at.machine, text(values[1]));
  events_.begin_slice(p.track, at.time, "send", {{"to", to.name}, {"words", values[2].number}});
  events_.begin_flow(p.track, at.time, ++flows_, "message");
  events_.end_slice(p.track, at.time);
  at.machine.sent[values[3].number] = flows_;
}

/// Values: receiver, words, messages left, number of the message.
void Timeline::receive(const At& at, Values values) {
  const Track track = running(at, text(values[0])).track;
  events_.begin_slice(track, at.time, "receive",
                      {{"words", values[1].number}, {"messages left", values[2].number}});
  // A message that is not found was sent before the tracing, or not by a process.
  if (const auto sent = at.machine.sent.find(values[3].number); sent != at.machine.sent.end()) {
    events_.end_flow(track, at.time, sent->second, "message");
    at.machine.sent.erase(sent);
  }
  events_.end_slice(track, at.time);
}

/// Values: parent, child, function.
void Timeline::spawn(const At& at, Values values) {
  if (!text(values[0]).empty())  // the first one has no parent
    events_.instant(running(at, text(values[0])).track, at.time, "spawn",
                    {{"process", text(values[1])}, {"function", text(values[2])}});
  Process& child = process(at.machine, text(values[1]));
  child.name = fmt::format("{} {}", text(values[2]), text(values[1]));
  events_.name_track(child.track, child.name);
}

/// Values: pid, reason.
void Timeline::exit(const At& at, Values values) {
  Process& p = running(at, text(values[0]));
  events_.instant(p.track, at.time, "exit", {{"reason", text(values[1])}});
  p.state = State::kEnded;
}

/// Values: sender, receiver, reason.
void Timeline::signal(const At& at, Values values) {
  Process& p = process(at.machine, text(values[0]));
  events_.instant(p.track, at.time, "exit signal", {{"to", text(values[1])}, {"reason", text(values[2])}});
}

/// Values: pid, number, text. The program itself says this by dyntrace:p.
void Timeline::mark(const At& at, Values values) {
  const std::string_view said = text(values[2]);
  events_.instant(running(at, text(values[0])).track, at.time, said.empty() ? "mark" : said,
                  {{"number", values[1].number}});
}

// ---- Ports and files ----------------------------------------------------------------------------

Timeline::Port& Timeline::port(const At& at, std::string_view port, std::string_view name) {
  const std::uint64_t id = at.machine.ports.size() + 1;
  const auto [found, is_new] = at.machine.ports.try_emplace(std::string(port));
  Port& p = found->second;
  if (is_new) {
    p = {id | at.machine.index << kMachineShift, fmt::format("{} {}", name, port)};
    events_.begin_span(at.machine.pid, at.time, "port", p.id, p.name);
  }
  return p;
}

/// Values: port, name.
void Timeline::port_open(const At& at, Values values) { port(at, text(values[0]), text(values[1])); }

/// Values: port, name, probe.
void Timeline::port_event(const At& at, Values values) {
  const Port& p = port(at, text(values[0]), text(values[1]));
  if (p.is_open) events_.span_instant(at.machine.pid, at.time, "port", p.id, text(values[2]));
}

/// Values: port, reason.
void Timeline::port_exit(const At& at, Values values) {
  const auto found = at.machine.ports.find(std::string(text(values[0])));
  if (found == at.machine.ports.end() || !found->second.is_open) return;
  Port& p = found->second;
  p.is_open = false;
  events_.end_span(at.machine.pid, at.time, "port", p.id, p.name, {{"reason", text(values[1])}});
}

/// Values: thread, tag, command, first name, second name.
void Timeline::file(const At& at, Values values) {
  const std::uint64_t id = operation_id(at.machine, values);
  FileOperation& operation = at.machine.file_operations[id];
  operation = {fmt::format("file command {}", values[2].number)};
  events_.begin_span(at.machine.pid, at.time, "file", id, operation.name,
                     {{"name", text(values[3])}, {"second name", text(values[4])}});
}

/// Values: thread, tag. Several parts of an operation may be worked on separately.
void Timeline::file_work(const At& at, Values values) {
  const std::uint64_t id = operation_id(at.machine, values);
  const auto found = at.machine.file_operations.find(id);
  if (found == at.machine.file_operations.end() || std::exchange(found->second.works, true)) return;
  events_.begin_span(at.machine.pid, at.time, "file", id, kSystemCalls);
}

/// Values: thread, tag.
void Timeline::file_worked(const At& at, Values values) {
  const std::uint64_t id = operation_id(at.machine, values);
  const auto found = at.machine.file_operations.find(id);
  if (found == at.machine.file_operations.end() || !std::exchange(found->second.works, false)) return;
  events_.end_span(at.machine.pid, at.time, "file", id, kSystemCalls);
}

/// Values: thread, tag, 1 for success, errno.
void Timeline::file_done(const At& at, Values values) {
  file_worked(at, values);
  const std::uint64_t id = operation_id(at.machine, values);
  const auto found = at.machine.file_operations.find(id);
  if (found == at.machine.file_operations.end()) return;
  events_.end_span(at.machine.pid, at.time, "file", id, found->second.name,
                   {{"ok", values[2].number}, {"errno", values[3].number}});
  at.machine.file_operations.erase(found);
}

}  // namespace vmrun::d
