#include "vm/base/fatal_signal.hpp"

#include <array>
#include <atomic>
#include <csignal>
#include <cstdlib>
#include <mutex>

namespace vmrun {
namespace {

using Report = void (*)(int);

std::array<std::atomic<Report>, 4> reports;

/// The signal's own effect is back by now (SA_RESETHAND): raised again, the process dies of it, and
/// so it does of a second one in a report.
void handle(int signal_number) {
  for (const auto& report : reports)
    if (const Report r = report.load(std::memory_order_acquire)) r(signal_number);
  raise(signal_number);
}

void install() {
  for (const int signal_number : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT}) {
    struct sigaction action {};
    sigaction(signal_number, nullptr, &action);
    if (action.sa_flags & SA_SIGINFO) continue;
    action = {};
    action.sa_handler = handle;
    action.sa_flags = static_cast<int>(SA_RESETHAND | SA_NODEFER);
    sigaction(signal_number, &action, nullptr);
  }
}

}  // namespace

void on_fatal_signal(void (*report)(int)) {
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
