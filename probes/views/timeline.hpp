// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>

#include "probes/views/trace_events.hpp"
#include "probes/vmtrace/presentation.hpp"

/// What machines did, as a document that Perfetto's viewer opens. Each scheduler has a track (whose
/// slice it runs), and each Erlang process has one (running, waiting, runnable, collecting). An
/// arrow leads from where a message was sent to where it was received. Ports and operations on
/// files are spans. An event may be missing, because it came before the tracing or was dropped; the
/// document is well-formed nevertheless. Only the consumer's thread uses it.
namespace vmrun::d {

class Timeline {
 public:
  /// Appends to `out`, which the owner may empty between two calls. most: the most events; the rest
  /// are counted and left out.
  Timeline(std::string& out, std::uint64_t most);

  /// Takes a printf of timeline.d, whose format begins with the word that says what happened.
  /// Returns false when there is no such word.
  bool take(const Presentation::Event& event, const ActionInfo& action, std::span<const Value> values);
  /// Ends what is open, and the document. dropped: how much the machines had no room for.
  void finish(std::uint64_t dropped = 0);

  bool is_full() const { return left_out_ != 0; }
  std::uint64_t taken() const { return taken_; }
  std::uint64_t left_out() const { return left_out_; }

 private:
  using Track = TraceEvents::Track;
  using Values = std::span<const Value>;

  enum class State : std::uint8_t { kUnseen, kRunning, kDirty, kWaiting, kRunnable, kEnded };
  struct Process {
    Track track;
    State state = State::kUnseen;
    bool is_queued = false;  // runnable again before its slice has ended
    std::string name;        // for readers; its pid until more is known
  };
  struct Port {
    std::uint64_t id;
    std::string name;
    bool is_open = true;
  };
  struct FileOperation {
    std::string name;
    bool works = false;  // its system calls are under way
  };
  struct Machine {
    std::int64_t pid = 0;
    std::uint64_t index = 0;  // from 0, in the order of appearance
    std::unordered_map<std::string, Process> processes;
    std::unordered_map<std::uint32_t, Track> schedulers;
    // Messages that were sent and not received yet, with their arrows. A machine uses the number of
    // a message again when that message is gone.
    std::unordered_map<std::int64_t, std::uint64_t> sent;
    std::unordered_map<std::string, Port> ports;
    std::unordered_map<std::uint64_t, FileOperation> file_operations;
  };
  struct At {
    Machine& machine;
    std::uint64_t time;
    std::uint32_t cpu;  // 0: not a scheduler
  };
  struct Word {
    std::string_view word;
    std::size_t values;  // at least
    void (Timeline::*take)(const At&, Values);
  };
  static const Word kWords[];

  Machine& machine(std::int64_t pid);
  Process& process(Machine& machine, std::string_view pid);
  Track scheduler(Machine& machine, std::uint32_t cpu);
  Port& port(const At& at, std::string_view port, std::string_view name);
  Process& running(const At& at, std::string_view pid);
  static std::uint64_t operation_id(const Machine& machine, Values values);

  void run(const At& at, Values values);
  void stop(const At& at, Values values);
  void runnable(const At& at, Values values);
  void waited(const At& at, Values values);
  void collect(const At& at, Values values);
  void collected(const At& at, Values values);
  void send(const At& at, Values values);
  void receive(const At& at, Values values);
  void spawn(const At& at, Values values);
  void exit(const At& at, Values values);
  void signal(const At& at, Values values);
  void mark(const At& at, Values values);
  void port_open(const At& at, Values values);
  void port_event(const At& at, Values values);
  void port_exit(const At& at, Values values);
  void file(const At& at, Values values);
  void file_work(const At& at, Values values);
  void file_worked(const At& at, Values values);
  void file_done(const At& at, Values values);

  TraceEvents events_;
  std::uint64_t most_, taken_ = 0, left_out_ = 0, flows_ = 0, last_time_ = 0;
  std::unordered_map<std::int64_t, Machine> machines_;
  std::unordered_map<const ActionInfo*, const Word*> words_;
};

}  // namespace vmrun::d
