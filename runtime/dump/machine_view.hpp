// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <unordered_map>

#include "runtime/dump/dump_file.hpp"
#include "vm/process/process.hpp"

/// A view of the machine from outside: processes, ports, tables, modules and schedulers, as the
/// sections of Erlang/OTP's crash dumps. Everything here requires that schedulers and dirty
/// schedulers are stopped (StoppedMachine). The calling thread is not a scheduler; it may be a
/// dirty one, whose process is shown as running.
namespace vmrun::dump {

/// Stops the machine during its lifetime. Other threads that want to do so wait. A process that
/// does not stop in time is recorded as running, and only what does not change of it is read.
class StoppedMachine {
 public:
  StoppedMachine();
  ~StoppedMachine();
  StoppedMachine(const StoppedMachine&) = delete;

  bool runs(const Process& p) const { return running_.contains(&p); }
  /// Returns what the process does, in OTP's flags, or nullptr for a process that does not run.
  const char* activity(const Process& p) const;

 private:
  friend void write_schedulers(DumpFile& out, const StoppedMachine& stopped);
  struct Held;
  Held* held_;
  // The running processes and their activity.
  std::unordered_map<const Process*, const char*> running_;
};

void write_schedulers(DumpFile& out, const StoppedMachine& stopped);
void write_memory(DumpFile& out);
void write_modules(DumpFile& out);
void write_ports(DumpFile& out);
void write_tables(DumpFile& out);
/// Writes =proc; `stack`: with the terms of its stack, for people.
void write_process(DumpFile& out, Process& p, const StoppedMachine& stopped, bool stack);
/// Writes all processes, for people.
void write_processes(DumpFile& out, const StoppedMachine& stopped);
/// Writes =proc_dictionary, _messages, _stack and _heap of all processes, =literals and =binary.
void write_process_terms(DumpFile& out, const StoppedMachine& stopped);
void write_atoms(DumpFile& out);

// Texts for built-in functions: see bif/bif_upcalls.hpp.

std::string text_of_processes();
std::string text_of_running(Process& p, const Word* program_counter, const Word* returns_to);

}  // namespace vmrun::dump
