// SPDX-License-Identifier: Apache-2.0
#include "probes/attach/sampling.hpp"

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <map>
#include <utility>
#include <vector>

#include <dirent.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "probes/attach/firing.hpp"
#include "probes/attach/sample_firing.hpp"
#include "probes/attach/sample_notes.hpp"
#include "probes/attach/sampled_threads.hpp"
#include "vm/process/sampled.hpp"
#include "vm/sched/scheduler.hpp"

// Threads and their clocks. Only the controlling thread uses what is here.
// glibc 2.36 has no name for this member.
#ifndef sigev_notify_thread_id
#define sigev_notify_thread_id _sigev_un._tid
#endif

namespace vmrun::attach {
namespace {

constexpr std::uint64_t kScanEveryNs = 50'000'000;
// A thread that has run no longer than this counts as asleep: handling the last wall clock's signal
// took that time.
constexpr std::uint64_t kAsleepNs = 50'000;
// A scheduler fires its samples itself where the slice ends. After so long it is assumed to be in
// the middle of something long.
constexpr std::uint64_t kPatienceNs = 250'000'000, kPatienceAtTickNs = 20'000'000;

std::map<int, SampledThread*> threads;  // by tid
std::vector<SampledThread*> free_threads;
std::uint64_t scanned_ns = 0;
unsigned next_clock = 0;

bool is_sampling() {
  return std::ranges::any_of(samplers,
                             [](const Sampler& s) { return s.session.load(std::memory_order_relaxed); });
}

/// Returns the clock of a thread's processor time (clock_getres(2)). It is pthread_getcpuclockid's,
/// for a thread of this process that is known by its number.
clockid_t processor_clock(int tid) { return static_cast<clockid_t>(~static_cast<unsigned>(tid) << 3 | 6); }

std::uint64_t processor_ns(int tid) {
  timespec t{};
  (void)clock_gettime(processor_clock(tid), &t);
  return static_cast<std::uint64_t>(t.tv_sec) * 1'000'000'000 + static_cast<std::uint64_t>(t.tv_nsec);
}

timespec in_timespec(std::uint64_t ns) {
  return {static_cast<time_t>(ns / 1'000'000'000), static_cast<long>(ns % 1'000'000'000)};
}

Clock* free_clock() {
  for (unsigned i = 0; i < kMostClocks; ++i) {
    Clock& c = clocks[next_clock++ % kMostClocks];
    if (!c.thread.load(std::memory_order_relaxed)) return &c;
  }
  return nullptr;
}

void stop_clock(Clock& c) {
  if (const int event = c.event.exchange(-1, std::memory_order_relaxed); event >= 0) {
    (void)ioctl(event, PERF_EVENT_IOC_DISABLE, 0);  // a child about to start a program has it too
    if (event < kMostDescriptors) clock_of_event[event].store(0, std::memory_order_release);
    close(event);
  }
  if (std::exchange(c.has_timer, false)) (void)timer_delete(c.timer);
  c.used.fetch_add(1, std::memory_order_relaxed);
  c.thread.store(nullptr, std::memory_order_release);
}

/// Opens the kernel's own clock for profilers, which is exact to the microsecond. Returns -1 when
/// we may not have one (perf_event_paranoid, a container's filter) or no descriptor is left.
/// trap_value: the value with which the kernel itself sends SIGTRAP; 0: it sends none.
int open_event(int tid, std::uint64_t interval_ns, std::uint64_t trap_value = 0) {
  perf_event_attr attributes{};
  attributes.size = sizeof attributes;
  attributes.type = PERF_TYPE_SOFTWARE;
  attributes.config = PERF_COUNT_SW_TASK_CLOCK;
  attributes.sample_period = interval_ns;
  attributes.disabled = 1;
  attributes.exclude_hv = 1;
  attributes.sigtrap = attributes.remove_on_exec = trap_value != 0;
  attributes.sig_data = trap_value;
  for (const bool without_kernel : {false, true}) {
    attributes.exclude_kernel = without_kernel;
    const long fd = syscall(SYS_perf_event_open, &attributes, tid, -1, -1, PERF_FLAG_FD_CLOEXEC);
    if (fd >= 0) return static_cast<int>(fd);
  }
  return -1;
}

/// The trap is the cheapest signal: the thread gets it on its way out of the clock's interrupt. Any
/// other signal comes by a second interrupt of the processor. In a virtual machine, that alone is
/// half of what a sample costs.
bool start_trap(Clock& c, unsigned number, int tid, std::uint64_t interval_ns) {
  const int event = open_event(tid, interval_ns, trap_value_of(number));
  if (event < 0) return false;
  c.event.store(event, std::memory_order_relaxed);
  if (ioctl(event, PERF_EVENT_IOC_ENABLE, 0) == 0) return true;
  c.event.store(-1, std::memory_order_relaxed);
  close(event);
  return false;
}

bool start_event(Clock& c, unsigned number, int tid, std::uint64_t interval_ns) {
  const int event = open_event(tid, interval_ns);
  if (event < 0) return false;
  const f_owner_ex owner{F_OWNER_TID, tid};
  if (event < kMostDescriptors && fcntl(event, F_SETSIG, sampling_signal()) == 0 &&
      fcntl(event, F_SETOWN_EX, &owner) == 0 && fcntl(event, F_SETFL, O_ASYNC | O_NONBLOCK) == 0) {
    c.event.store(event, std::memory_order_relaxed);
    clock_of_event[event].store(static_cast<std::uint16_t>(number + 1), std::memory_order_release);
    if (ioctl(event, PERF_EVENT_IOC_ENABLE, 0) == 0) return true;
    clock_of_event[event].store(0, std::memory_order_relaxed);
    c.event.store(-1, std::memory_order_relaxed);
  }
  close(event);
  return false;
}

/// Uses processor time as the kernel counts it at its tick. POSIX promises no more.
bool start_timer(Clock& c, unsigned number, int tid, std::uint64_t interval_ns) {
  sigevent event{};
  event.sigev_notify = SIGEV_THREAD_ID;
  event.sigev_signo = sampling_signal();
  event.sigev_value.sival_int = value_of(number);
  event.sigev_notify_thread_id = tid;
  if (timer_create(processor_clock(tid), &event, &c.timer) != 0) return false;
  c.has_timer = true;
  const itimerspec every{in_timespec(interval_ns), in_timespec(interval_ns)};
  return timer_settime(c.timer, 0, &every, nullptr) == 0;
}

void start_clock(SampledThread& thread, unsigned sampler) {
  Clock* const c = free_clock();
  if (!c) return;
  const Sampler& s = samplers[sampler];
  c->sampler = sampler;
  c->due.store(0, std::memory_order_relaxed);
  c->thread.store(&thread, std::memory_order_release);
  if (s.wall) return;
  // The thread may have ended meanwhile.
  const auto number = static_cast<unsigned>(c - clocks);
  const int tid = thread.tid.load(std::memory_order_relaxed);
  c->processor_ns.store(processor_ns(tid), std::memory_order_relaxed);
  if (!(s.traps && start_trap(*c, number, tid, s.interval_ns)) &&
      !start_event(*c, number, tid, s.interval_ns) && !start_timer(*c, number, tid, s.interval_ns))
    stop_clock(*c);
}

template <class Do>
void each_clock(Do&& act) {
  for (Clock& c : clocks)
    if (SampledThread* thread = c.thread.load(std::memory_order_relaxed)) act(c, *thread);
}

void read_name(SampledThread& thread, int tid) {
  char path[64], name[16] = {};
  std::snprintf(path, sizeof path, "/proc/self/task/%d/comm", tid);
  if (std::FILE* f = std::fopen(path, "re")) {
    if (!std::fgets(name, sizeof name, f)) name[0] = 0;
    std::fclose(f);
  }
  name[std::strcspn(name, "\n")] = 0;
  std::memcpy(thread.name, name, sizeof name);
}

unsigned scheduler_of(int tid) {
  for (unsigned n = 0; n < schedulers_started(); ++n)
    if (scheduler_at(n).tid.load(std::memory_order_relaxed) == tid) return n + 1;
  return 0;
}

SampledThread& add_thread(int tid) {
  SampledThread* thread;
  if (free_threads.empty()) {
    thread = new SampledThread;
  } else {
    thread = free_threads.back();
    free_threads.pop_back();
  }
  read_name(*thread, tid);
  thread->scheduler = scheduler_of(tid);
  thread->noted_process = kNonValue;
  thread->tid.store(tid, std::memory_order_release);
  threads.emplace(tid, thread);
  for (unsigned i = 0; i < kSamplers; ++i)
    if (samplers[i].session.load(std::memory_order_relaxed)) start_clock(*thread, i);
  return *thread;
}

void remove_thread(SampledThread& thread) {
  each_clock([&](Clock& c, const SampledThread& of) {
    if (&of == &thread) stop_clock(c);
  });
  take_out(thread, nullptr, ~std::uint64_t{0});
  thread.tid.store(0, std::memory_order_relaxed);
  free_threads.push_back(&thread);
}

/// Returns all threads but the calling one, which only does what tracing asks for.
std::vector<int> threads_there_are() {
  std::vector<int> all;
  DIR* const d = opendir("/proc/self/task");
  if (!d) return all;
  const int mine = tid_here();
  while (const dirent* e = readdir(d))
    if (const int tid = std::atoi(e->d_name); tid > 0 && tid != mine) all.push_back(tid);
  closedir(d);
  return all;
}

void scan_threads() {
  scanned_ns = monotonic_ns();
  const std::vector<int> there = threads_there_are();
  std::erase_if(threads, [&](const auto& known) {
    if (std::ranges::find(there, known.first) != there.end()) return false;
    remove_thread(*known.second);
    return true;
  });
  for (const int tid : there)
    if (!threads.contains(tid)) add_thread(tid);
}

void send_wall(Clock& c, std::uint32_t times) {
  c.due.fetch_add(times, std::memory_order_relaxed);
  siginfo_t info{};
  info.si_signo = sampling_signal();
  info.si_code = SI_QUEUE;
  info.si_pid = getpid();
  info.si_uid = getuid();
  info.si_value.sival_int = value_of(static_cast<unsigned>(&c - clocks));
  const int tid = c.thread.load(std::memory_order_relaxed)->tid.load(std::memory_order_relaxed);
  (void)syscall(SYS_rt_tgsigqueueinfo, getpid(), tid, sampling_signal(), &info);
}

/// Whether the thread has run since the last call.
bool has_run(Clock& c, const SampledThread& thread) {
  const std::uint64_t now = processor_ns(thread.tid.load(std::memory_order_relaxed));
  return now > c.processor_ns.exchange(now, std::memory_order_relaxed) + kAsleepNs;
}

void fire_idle(d::Session& session, std::uint32_t probe, const SampledThread& thread, std::uint32_t times) {
  static Sample& s = *new Sample;
  s.tid = thread.tid.load(std::memory_order_relaxed);
  s.scheduler = thread.scheduler;
  s.time_ns = monotonic_ns();
  std::strcpy(s.activity, "[idle]");
  resolve(s);
  fire_sample(session, probe, s, times);
}

}  // namespace

bool start_sampling(d::Session& session, std::uint32_t probe, std::uint64_t interval_ns, bool wall) {
  const auto unused = std::ranges::find_if(
      samplers, [](const Sampler& s) { return !s.session.load(std::memory_order_relaxed); });
  if (unused == std::end(samplers)) return false;
  install_handler();
  unused->probe = probe;
  unused->interval_ns = interval_ns;
  unused->wall = wall;
  // The kernel delivers only one of two traps that come at once.
  unused->traps = !wall && may_trap() && std::ranges::none_of(samplers, [](const Sampler& s) {
    return s.session.load(std::memory_order_relaxed) && s.traps;
  });
  unused->session.store(&session, std::memory_order_release);
  processes_sampled.store(true, std::memory_order_relaxed);
  for (const auto& [tid, thread] : threads) start_clock(*thread, static_cast<unsigned>(unused - samplers));
  scan_threads();
  return true;
}

void stop_sampling(d::Session& session) {
  bool had_any = false;
  each_clock([&](Clock& c, const SampledThread&) {
    if (samplers[c.sampler].session.load(std::memory_order_relaxed) == &session) stop_clock(c);
  });
  for (const auto& [tid, thread] : threads) take_out(*thread, nullptr, ~std::uint64_t{0});
  for (Sampler& s : samplers)
    if (s.session.load(std::memory_order_relaxed) == &session) {
      s.session.store(nullptr, std::memory_order_relaxed);
      had_any = true;
    }
  if (!had_any) return;
  wait_for_firings();  // waits for firings that have seen the session
  if (is_sampling()) return;
  processes_sampled.store(false, std::memory_order_relaxed);
  for (const auto& [tid, thread] : threads) remove_thread(*thread);
  threads.clear();
}

void look_after_samples(bool all) {
  if (!is_sampling()) return;
  const std::uint64_t now = monotonic_ns();
  if (now - scanned_ns > kScanEveryNs) scan_threads();
  const std::uint64_t patience = all ? kPatienceAtTickNs : kPatienceNs;
  for (const auto& [tid, thread] : threads) {
    take_out(*thread, nullptr, thread->scheduler ? now - patience : now);
    // Lost samples count for the clocks of all sessions.
    if (const auto lost = thread->lost.exchange(0, std::memory_order_relaxed))
      for (const Sampler& s : samplers)
        if (d::Session* session = s.session.load(std::memory_order_relaxed)) session->lose(lost);
  }
}

void sample_wall(d::Session& session, std::uint32_t probe, std::uint32_t times) {
  each_clock([&](Clock& c, SampledThread& thread) {
    const Sampler& s = samplers[c.sampler];
    if (s.session.load(std::memory_order_relaxed) != &session || s.probe != probe) return;
    if (has_run(c, thread)) send_wall(c, times);
    else fire_idle(session, probe, thread, times);
  });
}

}  // namespace vmrun::attach
