// SPDX-License-Identifier: Apache-2.0
#include "probes/attach/sample_notes.hpp"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstddef>
#include <cstdio>
#include <cstring>

#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/utsname.h>
#include <ucontext.h>
#include <unwind.h>

#include "probes/attach/sampled_threads.hpp"
#include "vm/base/activity.hpp"
#include "vm/hot/place_in_code.hpp"
#include "vm/process/core.hpp"
#include "vm/process/dirty_job.hpp"
#include "vm/process/return_address.hpp"
#include "vm/process/sampled.hpp"

namespace vmrun::attach {
namespace {

constexpr int kMostNativeFrames = 64;

pid_t own_pid = 0;
bool loop_is_known = false;
ErlangRegisters registers;
bool trap_is_ours = false;

// A trap's siginfo (sigaction(2): si_perf_data), for which older C libraries have no name.
constexpr int kTrapPerf = 6;  // si_code, TRAP_PERF
constexpr std::size_t kTrapValueAt = offsetof(siginfo_t, si_addr) + sizeof(void*);

std::uint32_t trap_value(const siginfo_t& info) {
  std::uint32_t value;  // the lower half of a word: the processor is little-endian
  std::memcpy(&value, reinterpret_cast<const char*>(&info) + kTrapValueAt, sizeof value);
  return value;
}

/// Since Linux 6.11 the thread gets the trap on its way back from the clock's interrupt. Before,
/// the trap came by a second interrupt, like any signal. Before 5.18 it also ended a process that
/// blocks it.
bool kernel_traps_at_once() {
  utsname system{};
  int major = 0, minor = 0;
  return uname(&system) == 0 && std::sscanf(system.release, "%d.%d", &major, &minor) == 2 &&
         (major > 6 || (major == 6 && minor >= 11));
}

std::uint64_t own_processor_ns() { return read_clock(CLOCK_THREAD_CPUTIME_ID); }

#if defined(__x86_64__)

struct Registers {
  explicit Registers(const ucontext_t& context) : words(context.uc_mcontext.gregs) {}
  const void* pc() const { return reinterpret_cast<const void*>(words[REG_RIP]); }
  Word at(int number) const {  // in the machine's encoding
    static constexpr int kPlaces[] = {REG_RAX, REG_RCX, REG_RDX, REG_RBX, REG_RSP, REG_RBP, REG_RSI, REG_RDI,
                                      REG_R8,  REG_R9,  REG_R10, REG_R11, REG_R12, REG_R13, REG_R14, REG_R15};
    return static_cast<Word>(words[kPlaces[number]]);
  }
  const greg_t* words;
};
/// The registers by DWARF's numbers ("System V Application Binary Interface, AMD64", figure 3.36).
constexpr int kOfDwarf[] = {0, 2, 1, 3, 7, 6, 4, 5, 8, 9, 10, 11, 12, 13, 14, 15};

#else

struct Registers {
  explicit Registers(const ucontext_t&) {}
  const void* pc() const { return nullptr; }
  Word at(int) const { return 0; }
};
constexpr int kOfDwarf[16] = {};

#endif

/// Where the process is that the thread runs, according to the registers.
struct CodeLocation {
  const Word* at = nullptr;
  const Word* returns_to = nullptr;  // see PlaceInHotCode
  const Term* stack = nullptr;
  void set(const PlaceInHotCode& p) {
    at = p.at;
    returns_to = p.returns_to;
  }
  bool in_loop = false;  // the thread is in the interpreter loop or in JIT code
  bool native = false;   // in native code that the instruction calls
  int frames_left = kMostNativeFrames;
};

int stack_register(const void* pc) { return is_in_loop(pc) ? registers.stack : registers.stack_in_code; }

_Unwind_Reason_Code look_at_frame(_Unwind_Context* frame, void* into) {
  CodeLocation& place = *static_cast<CodeLocation*>(into);
  int is_interrupted = 0;
  const _Unwind_Word ip = _Unwind_GetIPInfo(frame, &is_interrupted);
  const auto* pc = reinterpret_cast<const void*>(is_interrupted ? ip : ip - 1);
  if (is_in_loop(pc))
    place.at = reinterpret_cast<const Word*>(_Unwind_GetGR(frame, kOfDwarf[registers.instruction]));
  else place.set(place_in_hot_code(pc));
  if (!place.at) return --place.frames_left ? _URC_NO_REASON : _URC_NORMAL_STOP;
  place.stack = reinterpret_cast<const Term*>(_Unwind_GetGR(frame, kOfDwarf[stack_register(pc)]));
  return _URC_NORMAL_STOP;
}

/// The unwinder takes no lock: glibc finds the description of a frame without one
/// (_dl_find_object).
CodeLocation code_location_of(const Registers& interrupted) {
  CodeLocation place;
  const void* const pc = interrupted.pc();
  if (is_in_loop(pc)) place.at = reinterpret_cast<const Word*>(interrupted.at(registers.instruction));
  else place.set(place_in_hot_code(pc));
  if (place.at) {
    place.in_loop = true;
    place.stack = reinterpret_cast<const Term*>(interrupted.at(stack_register(pc)));
    return place;
  }
  place.native = true;
  (void)_Unwind_Backtrace(look_at_frame, &place);
  return place;
}

/// Reads memory that may have been given back. Returns how many words could be read.
std::size_t read_words(const Term* from, std::size_t count, Word* to) {
  const iovec there{const_cast<Term*>(from), count * sizeof(Word)}, here{to, count * sizeof(Word)};
  const ssize_t bytes = syscall(SYS_process_vm_readv, own_pid, &here, 1, &there, 1, 0);
  return bytes < 0 ? 0 : static_cast<std::size_t>(bytes) / sizeof(Word);
}

/// Works as add_callers, for a stack that may be moved or freed meanwhile.
void add_readable_callers(Sample& s, const Term* stack, std::size_t count, Word (&words)[512]) {
  while (count && s.frame_count < Sample::kMostFrames) {
    const std::size_t n = read_words(stack, std::min(count, std::size(words)), words);
    if (n == 0) return;
    add_callers(s, reinterpret_cast<const Term*>(words), n);
    stack += n;
    count -= n;
  }
}

/// Whether the page can be read. The kernel reads a set of signals from it before it sees that the
/// operation is invalid (sigprocmask(2): EFAULT, EINVAL). This takes a tenth of the time that the
/// kernel needs to copy the page.
bool is_readable(std::uintptr_t page) {
  constexpr int kNothing = -1;
  const long result = syscall(SYS_rt_sigprocmask, kNothing, page, nullptr, sizeof(std::uint64_t));
  return result < 0 && errno == EINVAL;
}

/// Works as add_callers, for a stack that stays where it is, if it exists: its two ends may be in
/// different blocks when the heap has just got a new one.
void add_callers_there(Sample& s, const Term* stack, std::size_t count) {
  // No system has smaller pages; of a larger one each part is asked about.
  constexpr std::uintptr_t kPage = 4096;
  const Term* const end = stack + count;
  while (stack < end && s.frame_count < Sample::kMostFrames) {
    const std::uintptr_t page = reinterpret_cast<std::uintptr_t>(stack) & ~(kPage - 1);
    if (!is_readable(page)) return;
    const Term* const part_end = std::min(end, reinterpret_cast<const Term*>(page + kPage));
    add_callers(s, stack, static_cast<std::size_t>(part_end - stack));
    stack = part_end;
  }
}

void note_process(Sample& s, const Process& p, const Core* core) {
  s.process = p.id;
  const std::uint32_t name = p.registered_name.load(std::memory_order_relaxed);
  s.name = name ? Term::atom(name - 1) : kNonValue;
  s.initial_module = p.initial_module;
  s.initial_function = p.initial_function;
  s.initial_arity = p.initial_arity;
  s.queue_length = p.mailbox.length();
  const Heap& h = p.heap;
  const auto old = [&](const Term* end) { return static_cast<Word>(end - h.old_start); };
  s.heap_words = h.block_words() + old(h.old_end);
  s.heap_used = h.used_words() + h.fragment_words + old(h.old_top);
  s.reductions = p.reductions_done + (core ? static_cast<Word>(core->slice - p.reductions) : 0);
}

void note_activity(Sample& s, const SampledThread& thread, const Activity* activity) {
  const auto put = [&](const char* before, const char* text, const char* behind) {
    std::size_t n = 0;
    for (const char* part : {before, text, behind})
      for (; *part && n + 1 < Sample::kMostActivity; ++part) s.activity[n++] = *part;
    s.activity[n] = 0;
  };
  if (activity) put("", activity->name, "");
  else if (s.process) s.activity[0] = 0;
  else if (s.scheduler) put("[scheduler", "", "]");
  else put("[thread ", thread.name, "]");
}

void note_place(Sample& s, const Process& p, const Activity* activity, const Registers& interrupted,
                SampledThread& thread) {
  s.knows_place = loop_is_known || !this_core();
  if (!s.knows_place) return;
  CodeLocation place;
  const bool is_run_here = this_core() && this_core()->current == &p;
  if (is_run_here) place = code_location_of(interrupted);
  const Heap& h = p.heap;
  if (!place.at) place.at = p.ip;  // not begun, stopping, or on a dirty scheduler
  if (place.stack < h.start || place.stack > h.end) place.stack = h.stop;
  s.native = place.native || !this_core();
  s.frames[0] = reinterpret_cast<std::uintptr_t>(place.at);
  s.frame_count = 1;
  if (place.returns_to) s.frames[s.frame_count++] = reinterpret_cast<std::uintptr_t>(place.returns_to);
  // The stack of a process that this scheduler runs is moved only by collections and freed at its
  // exit.
  const bool stays = is_run_here && !activity && !p.exiting.load(std::memory_order_relaxed);
  each_stack_part(place.stack, h, [&](const Term* part, std::size_t count) {
    if (!stays) add_readable_callers(s, part, count, thread.words);
    else if (place.in_loop) add_callers(s, part, count);
    else add_callers_there(s, part, count);
  });
}

bool is_same(const Sample& a, const Sample& b) {
  return a.process == b.process && a.knows_place == b.knows_place && a.native == b.native &&
         a.frame_count == b.frame_count && std::strcmp(a.activity, b.activity) == 0 &&
         std::memcmp(a.frames, b.frames, a.frame_count * sizeof *a.frames) == 0;
}

/// Adds to the sample before, if it is the same and still waits.
bool add_to_last(SampledThread& thread, const Waiting& now, std::uint32_t put, std::uint32_t times) {
  if (put == thread.taken.load(std::memory_order_relaxed)) return false;
  Waiting& last = thread.waiting[(put - 1) % kWaiting];
  if (last.sampler != now.sampler) return false;
  std::uint32_t count = last.count.load(std::memory_order_acquire);
  if (!count || !is_same(last.sample, now.sample)) return false;
  while (count && !last.count.compare_exchange_weak(count, count + times, std::memory_order_acq_rel)) {}
  return count;
}

void take_sample(SampledThread& thread, unsigned sampler, std::uint32_t times, const Registers& interrupted) {
  const std::uint32_t put = thread.put.load(std::memory_order_relaxed);
  // The load pairs with the release in take_out: the slot is not read any more.
  if (put - thread.taken.load(std::memory_order_acquire) == kWaiting) {
    thread.lost.fetch_add(times, std::memory_order_relaxed);
    return;
  }
  Waiting& now = thread.waiting[put % kWaiting];
  Sample& s = now.sample;
  now.sampler = sampler;
  const Core* const core = this_core();
  s.tid = thread.tid.load(std::memory_order_relaxed);
  s.scheduler = core ? core->number : 0;
  s.time_ns = monotonic_ns();
  s.process = s.name = kNonValue;
  s.frame_count = 0;
  s.native = false;
  s.knows_place = true;
  const Activity* const activity = activity_here;
  std::atomic_signal_fence(std::memory_order_acquire);
  const Process* const p = activity && activity->process ? activity->process : process_here();
  if (p) {
    note_process(s, *p, core);
    note_place(s, *p, activity, interrupted, thread);
  }
  note_activity(s, thread, activity);
  if (!add_to_last(thread, now, put, times)) {
    now.count.store(times, std::memory_order_relaxed);
    // The store pairs with the acquire in take_out: the sample is complete.
    thread.put.store(put + 1, std::memory_order_release);
  }
  sampled_here = &thread;
  samples_wait = true;
}

/// Returns nullptr when the clock has been stopped.
Clock* clock_of_value(std::uint32_t value) {
  Clock& clock = clocks[value % kMostClocks];
  const std::uint32_t used = clock.used.load(std::memory_order_relaxed);
  if (used << kClockBits != value >> kClockBits << kClockBits) return nullptr;
  // What start_clock has written before it stored the thread is read from here on.
  return clock.thread.load(std::memory_order_acquire) ? &clock : nullptr;
}

/// Returns how often the kernel's event has been due since the last call. The kernel sends one
/// signal for all times that fall into one stay in the kernel, which may free a large heap or read
/// a large file.
std::uint32_t times_of_event(Clock& clock) {
  const std::uint64_t interval = samplers[clock.sampler].interval_ns, now = own_processor_ns();
  const std::uint64_t last = clock.processor_ns.load(std::memory_order_relaxed);
  const std::uint64_t times = now > last ? (now - last) / interval : 0;
  // The event counts by the kernel's clock. A signal that comes in time sets our time by it.
  clock.processor_ns.store(times > 1 ? last + times * interval : now, std::memory_order_relaxed);
  return static_cast<std::uint32_t>(std::max<std::uint64_t>(times, 1));
}

/// Returns the clock that sent the signal, or nullptr when it has been stopped. times: how often it
/// was due.
Clock* clock_of(int signal, const siginfo_t& info, std::uint32_t* times) {
  if (signal == SIGTRAP) {
    Clock* const clock = clock_of_value(trap_value(info));
    if (clock) *times = times_of_event(*clock);
    return clock;
  }
  if (info.si_code == SI_TIMER || info.si_code == SI_QUEUE) {
    Clock* const clock = clock_of_value(static_cast<std::uint32_t>(info.si_value.sival_int));
    if (!clock) return nullptr;
    *times = info.si_code == SI_TIMER ? 1 + static_cast<std::uint32_t>(info.si_overrun)
                                      : clock->due.exchange(0, std::memory_order_relaxed);
    return clock;
  }
  if (info.si_code <= 0 || info.si_fd < 0 || info.si_fd >= kMostDescriptors) return nullptr;
  const unsigned number = clock_of_event[info.si_fd].load(std::memory_order_acquire);
  if (!number) return nullptr;
  *times = times_of_event(clocks[number - 1]);
  return &clocks[number - 1];
}

void handle(int signal, siginfo_t* info, void* context) {
  if (signal == SIGTRAP && info->si_code != kTrapPerf) {  // a breakpoint, without a debugger
    std::signal(SIGTRAP, SIG_DFL);
    (void)::raise(SIGTRAP);  // it comes when the handler returns
    return;
  }
  const int error = errno;
  std::uint32_t times = 0;
  Clock* const clock = clock_of(signal, *info, &times);
  SampledThread* const thread = clock ? clock->thread.load(std::memory_order_acquire) : nullptr;
  if (thread && times && thread->tid.load(std::memory_order_relaxed) == tid_here()) {
    if (samplers[clock->sampler].wall)
      clock->processor_ns.store(own_processor_ns(), std::memory_order_relaxed);
    take_sample(*thread, clock->sampler, times, Registers(*static_cast<ucontext_t*>(context)));
  }
  errno = error;
}

}  // namespace

// Finds return addresses as stack_of (script_terms.cpp) does: they are the words with a header's
// tag.
void add_callers(Sample& s, const Term* stack, std::size_t count) {
  Word previous = s.frame_count > 1 ? s.frames[s.frame_count - 1] + 1 : s.frame_count ? s.frames[0] : 0;
  for (const Term* t = stack; t < stack + count && s.frame_count < Sample::kMostFrames; ++t) {
    if (!is_return_address(*t) || t->raw() == previous) continue;
    s.frames[s.frame_count++] = (previous = t->raw()) - 1;  // inside the call
  }
}

bool may_trap() { return trap_is_ours; }

void install_handler() {
  static const bool done = [] {
    own_pid = getpid();
    struct sigaction action {};
    action.sa_sigaction = handle;
    // Interrupted system calls go on. The interrupted stack may have no room for the handler.
    action.sa_flags = SA_SIGINFO | SA_RESTART | SA_ONSTACK;
    sigemptyset(&action.sa_mask);
    sigaddset(&action.sa_mask, SIGTRAP);  // one sample of a thread at a time
    sigaddset(&action.sa_mask, sampling_signal());
    // The handler is never removed, because a signal may come late.
    (void)sigaction(sampling_signal(), &action, nullptr);
    struct sigaction before {};
    trap_is_ours = kernel_traps_at_once() && sigaction(SIGTRAP, nullptr, &before) == 0 &&
                   !(before.sa_flags & SA_SIGINFO) && before.sa_handler == SIG_DFL &&
                   sigaction(SIGTRAP, &action, nullptr) == 0;
    // The kernel sends SIGIO instead when too many signals wait. It would end the machine.
    if (sigaction(SIGIO, nullptr, &before) == 0 && before.sa_handler == SIG_DFL) std::signal(SIGIO, SIG_IGN);
    return true;
  }();
  (void)done;
  if (!loop_is_known) loop_is_known = find_places_in_code(&registers);
  // The unwinder's first call does work that is not safe in a handler, so it is made here.
  (void)_Unwind_Backtrace([](_Unwind_Context*, void*) { return _URC_NO_REASON; }, nullptr);
}

}  // namespace vmrun::attach
