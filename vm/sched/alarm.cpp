// SPDX-License-Identifier: Apache-2.0
#include "vm/sched/alarm.hpp"

#include <sys/syscall.h>
#include <unistd.h>
#include <csignal>
#include <ctime>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>

// glibc 2.36 has no name for this member.
#ifndef sigev_notify_thread_id
#define sigev_notify_thread_id _sigev_un._tid
#endif

namespace vmrun {
namespace {

/// The signal of the alarms. The thread in which they ring blocks it, and it is sent nowhere else.
/// The two before it are those of the probes. An emulator may keep the last ones for itself (qemu
/// the last four).
int alarm_signal() { return SIGRTMIN + 7; }

itimerspec at(Word ns) {
  itimerspec when{};
  when.it_value.tv_sec = static_cast<time_t>(ns / 1'000'000'000);
  when.it_value.tv_nsec = static_cast<long>(ns % 1'000'000'000);
  return when;
}

}  // namespace

void KernelTimer::create(int tid, unsigned number) {
  sigevent event{};
  event.sigev_notify = SIGEV_THREAD_ID;
  event.sigev_signo = alarm_signal();
  event.sigev_value.sival_int = static_cast<int>(number);
  event.sigev_notify_thread_id = tid;
  if (timer_create(CLOCK_MONOTONIC, &event, &id_) < 0) {
    std::fprintf(stderr, "vmrun: cannot make a timer: %s\n", std::strerror(errno));
    std::exit(1);
  }
  exists_ = true;
}
void KernelTimer::remove() {
  if (exists_) timer_delete(id_);
  exists_ = false;
}
void KernelTimer::soon() {
  const itimerspec when = at(kAlarmNs);
  if (exists_) timer_settime(id_, 0, &when, nullptr);
}
void KernelTimer::off() {
  const itimerspec never{};
  if (exists_) timer_settime(id_, 0, &never, nullptr);
}
void KernelTimer::late(Word at_ns) {
  const itimerspec when = at(at_ns);
  if (exists_) timer_settime(id_, TIMER_ABSTIME, &when, nullptr);
}

void begin_to_wait_for_alarms() {
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, alarm_signal());
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);
}

unsigned wait_for_alarm() {
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, alarm_signal());
  siginfo_t info;
  for (;;) {
    if (sigwaitinfo(&signals, &info) < 0) continue;  // another signal's handler has run
    if (info.si_code == SI_TIMER) return static_cast<unsigned>(info.si_value.sival_int);
    if (info.si_pid == getpid()) return 0;
  }
}

void interrupt_alarms(int tid) { syscall(SYS_tgkill, getpid(), tid, alarm_signal()); }

}  // namespace vmrun
