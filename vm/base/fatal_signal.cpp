// SPDX-License-Identifier: Apache-2.0
#include "vm/base/fatal_signal.hpp"

#include <array>
#include <atomic>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <mutex>

#include <ucontext.h>
#include <unistd.h>

#include "vm/base/coverage.hpp"
#include "vm/base/halt.hpp"
#include "vm/base/signal_stack.hpp"

namespace vmrun {
namespace {

using Report = bool (*)(const FatalSignal&);

std::array<std::atomic<Report>, 4> reports;

/// Returns the stack pointer at the signal; 0 where the processor's registers are not known.
std::uintptr_t stack_pointer(const void* context) {
  [[maybe_unused]] const auto& machine = static_cast<const ucontext_t*>(context)->uc_mcontext;
#if defined(__x86_64__)
  return static_cast<std::uintptr_t>(machine.gregs[REG_RSP]);
#elif defined(__aarch64__)
  return static_cast<std::uintptr_t>(machine.sp);
#else
  return 0;
#endif
}

/// A thread that runs out of stack touches the guard page below it, at most a frame away from the
/// stack pointer. Other addresses near the stack pointer belong to the stack and do not fault.
bool ran_out_of_stack(int signal_number, const siginfo_t* info, const void* context) {
  constexpr std::uintptr_t kFrameBytes = 1 << 20;
  if (signal_number != SIGSEGV && signal_number != SIGBUS) return false;
  const std::uintptr_t sp = stack_pointer(context), at = reinterpret_cast<std::uintptr_t>(info->si_addr);
  return sp && at + kFrameBytes >= sp && at < sp + 4096;
}

/// The signal's default effect is restored by now (SA_RESETHAND), so the process dies of the signal
/// when it is raised again, and also of a second one during a report.
void handle(int signal_number, siginfo_t* info, void* context) {
  const FatalSignal signal{signal_number, ran_out_of_stack(signal_number, info, context)};
  bool reported = false;
  for (const auto& report : reports)
    if (const Report r = report.load(std::memory_order_acquire)) reported |= r(signal);
  static char slogan[128];  // a second crash ends the process at once
  signal.text(slogan, sizeof slogan - 1);
  if (!reported) {
    for (const char* part : {"vmrun: ", static_cast<const char*>(slogan), "\n"})
      if (write(STDERR_FILENO, part, std::strlen(part)) < 0) {}  // nowhere left to complain to
  }
  dump_before_end(slogan);
  write_coverage();
  raise(signal_number);
}

/// Returns the name of one of the signals below.
const char* name_of(int signal_number) {
  switch (signal_number) {
    case SIGSEGV: return "SEGV";
    case SIGBUS: return "BUS";
    case SIGFPE: return "FPE";
    case SIGILL: return "ILL";
    default: return "ABRT";
  }
}

void install() {
  for (const int signal_number : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT}) {
    struct sigaction action {};
    sigaction(signal_number, nullptr, &action);
    if (action.sa_flags & SA_SIGINFO) continue;
    action = {};
    action.sa_sigaction = handle;
    action.sa_flags = static_cast<int>(SA_RESETHAND | SA_NODEFER | SA_ONSTACK | SA_SIGINFO);
    sigaction(signal_number, &action, nullptr);
  }
}

}  // namespace

const char* FatalSignal::text(char* buffer, unsigned long bytes) const {
  std::snprintf(buffer, bytes, "crashed with signal %s%s", name_of(number),
                stack_overflow ? " (stack overflow in native code)" : "");
  return buffer;
}

void on_fatal_signal(bool (*report)(const FatalSignal&)) {
  for (auto& place : reports) {
    Report nobody = nullptr;
    if (!place.compare_exchange_strong(nobody, report, std::memory_order_release, std::memory_order_relaxed))
      continue;
    static std::once_flag once;
    std::call_once(once, install);
    return;
  }
  std::abort();
}

}  // namespace vmrun
