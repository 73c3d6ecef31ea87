#pragma once

#include <string>

/// The end of the whole machine, and the signals of the operating system on their way to the main
/// thread, which waits for either.
namespace vmrun {

struct HaltRequest {
  int status = 0;
  bool flush = false;  // ports are closed first, what they have not got rid of is written
  bool dump = false;   // a crash dump first, with the slogan
  std::string slogan = {};
  bool awaited = false;  // by a thread that cannot go on, and has told why: see dump_before_end
};

/// Ends the VM: the thread in wait_for_halt returns with the request. The first call counts. Any
/// thread.
void request_halt(HaltRequest request);

/// A signal has come: the thread in wait_for_halt calls its on_signal with it. Signals of one
/// number that come at the same time are one, as the operating system has it. For a signal handler.
void announce_signal(int number);

/// The calling thread cannot go on, and with it the machine: the thread in wait_for_halt returns
/// with a request to write a crash dump, and this one comes back when that is done, or cannot be
/// done: nobody waits there, or what is written makes no progress (a lock may be held here). Then
/// it ends the program in its own way. A second thread in the same need never comes back: the first
/// one ends it. slogan lasts as long as the program. For a signal handler too.
void dump_before_end(const char* slogan);
/// The machine lacks what it cannot go on without, such as memory: a line on standard error, a
/// crash dump, status 1. One thread tells of it, whichever comes first. Takes no memory.
[[noreturn]] void end_for_want(const char* line, const char* slogan);
/// While the dump is written: it makes progress. Its end.
void dump_goes_on();
[[noreturn]] void dump_ended();

/// Returns when the end is requested. on_signal is called in between, in this thread.
HaltRequest wait_for_halt(void (*on_signal)(int number) = [](int) {});

}  // namespace vmrun
