// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

/// The end of the whole machine, and the signals of the operating system on their way to the main
/// thread. The main thread waits for both.
namespace vmrun {

struct HaltRequest {
  int status = 0;
  bool flush = false;  // ports are closed first, and their pending output is written
  bool dump = false;   // a crash dump first, with the slogan
  std::string slogan = {};
  int flush_timeout_ms = -1;  // for all that the flush waits for; negative: none
  bool awaited = false;       // by a thread that cannot go on and has reported why: see dump_before_end
};

/// The flush timeout of every halt, unless it has a shorter one; negative: none. Set once, before
/// the first process.
inline int flush_timeout_of_all_ms = -1;

/// Ends the VM: the thread in wait_for_halt returns with the request. Only the first call counts.
/// Any thread.
void request_halt(HaltRequest request);

/// Reports that a signal has come: the thread in wait_for_halt calls its on_signal with it. Signals
/// of one number that come at the same time count as one, as in the operating system. Safe in a
/// signal handler.
void announce_signal(int number);

/// For a thread that cannot go on, and with it the machine. The thread in wait_for_halt returns
/// with a request to write a crash dump, and this call returns when the dump is done. It also
/// returns when the dump cannot be done: no thread waits there, or the dump makes no progress (the
/// caller may hold a lock). Then the caller ends the program in its own way. A second thread that
/// calls this never returns: the first one ends the program. slogan lasts as long as the program.
/// Safe in a signal handler.
void dump_before_end(const char* slogan);
/// For a machine that lacks something it cannot go on without, such as memory. Writes a line to
/// standard error and a crash dump, and exits with status 1. Only the first thread reports.
/// Allocates nothing.
[[noreturn]] void end_for_want(const char* line, const char* slogan);
/// Called while the dump is written, to show progress; and at its end.
void dump_goes_on();
[[noreturn]] void dump_ended();

/// Returns when the end is requested. Calls on_signal in this thread meanwhile.
HaltRequest wait_for_halt(void (*on_signal)(int number) = [](int) {});

}  // namespace vmrun
