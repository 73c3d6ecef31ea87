#pragma once

#include <unordered_map>

#include "runtime/dump/dump_file.hpp"
#include "vm/process/process.hpp"

/// What the machine looks like from outside: processes, ports, tables, modules, schedulers, as the
/// sections of Erlang/OTP's crash dumps. Everything here is for a thread that is no scheduler, or a
/// dirty one, whose process is shown as running, while schedulers and dirty schedulers are stopped
/// (StoppedMachine).
namespace vmrun::dump {

/// Stops the machine while it lives; who wants to do so too waits. What does not stop in time is
/// known, and left alone: of a process that runs only what does not change is looked at.
class StoppedMachine {
 public:
  StoppedMachine();
  ~StoppedMachine();
  StoppedMachine(const StoppedMachine&) = delete;

  bool runs(const Process& p) const { return running_.contains(&p); }
  /// What it does, in flags of OTP's; nullptr for a process that does not run.
  const char* activity(const Process& p) const;

 private:
  friend void write_schedulers(DumpFile& out, const StoppedMachine& stopped);
  struct Held;
  Held* held_;
  // Processes that run, and their activity.
  std::unordered_map<const Process*, const char*> running_;
};

void write_schedulers(DumpFile& out, const StoppedMachine& stopped);
void write_memory(DumpFile& out);
void write_modules(DumpFile& out);
void write_ports(DumpFile& out);
void write_tables(DumpFile& out);
/// =proc; with `stack` the terms of its stack too, for people.
void write_process(DumpFile& out, Process& p, const StoppedMachine& stopped, bool stack);
/// Of all, for people.
void write_processes(DumpFile& out, const StoppedMachine& stopped);
/// =proc_dictionary, _messages, _stack, _heap of all, =literals, =binary.
void write_process_terms(DumpFile& out, const StoppedMachine& stopped);
void write_atoms(DumpFile& out);

}  // namespace vmrun::dump
