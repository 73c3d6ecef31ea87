#include "probes/attach/sampling.hpp"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include <dirent.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <ucontext.h>
#include <unistd.h>
#include <unwind.h>

#include "probes/attach/firing.hpp"
#include "probes/attach/host.hpp"
#include "probes/engine/wire.hpp"
#include "vm/base/activity.hpp"
#include "vm/base/epoch.hpp"
#include "vm/code/instructions.hpp"
#include "vm/code/module.hpp"
#include "vm/code/walk.hpp"
#include "vm/hot/place_in_code.hpp"
#include "vm/process/core.hpp"
#include "vm/process/dirty_job.hpp"
#include "vm/process/sampled.hpp"
#include "vm/sched/scheduler.hpp"

namespace vmrun::attach {
namespace {

constexpr unsigned kSamplers = 64;              // profile-N and wall-N at once, of all sessions
constexpr unsigned kMostClocks = 8192;          // one for each of them in each thread
constexpr std::uint32_t kWaiting = 32;          // samples of a thread that have not been fired
constexpr std::size_t kMostStackWords = 16384;  // of a stack, that are searched for return addresses
constexpr int kMostNativeFrames = 64;
constexpr std::uint64_t kScanEveryNs = 50'000'000;
// A thread that has run no longer than this sleeps on: the last wall clock's signal made it do
// that.
constexpr std::uint64_t kAsleepNs = 50'000;
// A scheduler fires its samples itself where the slice ends; after so long it is taken to be in the
// midst of something long.
constexpr std::uint64_t kPatienceNs = 250'000'000, kPatienceAtTickNs = 20'000'000;

std::uint64_t now_ns() {
  timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return static_cast<std::uint64_t>(t.tv_sec) * 1'000'000'000 + static_cast<std::uint64_t>(t.tv_nsec);
}

std::uint64_t own_processor_ns() {
  timespec t;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return static_cast<std::uint64_t>(t.tv_sec) * 1'000'000'000 + static_cast<std::uint64_t>(t.tv_nsec);
}

// ---- What threads and handlers share ------------------------------------------------------------

struct Waiting {
  std::atomic<std::uint32_t> count{0};  // times; 0: it is being fired, or has been
  unsigned sampler = 0;
  Sample sample;
};

/// A thread that is sampled. The handler, in that thread, puts samples in; whoever has `taking`
/// takes them out. Never freed: another thread takes over that of one that has ended.
struct SampledThread {
  std::atomic<int> tid{0};
  char name[16] = {};
  std::atomic<std::uint32_t> put{0}, taken{0};
  std::atomic<std::uint64_t> lost{0};
  std::atomic<bool> taking{false};
  // The process that a dirty scheduler works for, and its label. Whoever has `taking`.
  Term noted_process;
  d::Shaped noted_label{d::Shape::kNull, 0};
  char noted_bytes[1024];
  Waiting waiting[kWaiting];
  Word words[512];  // a piece of a stack
  // The controlling thread's.
  unsigned scheduler = 0;
};

struct Sampler {
  std::atomic<d::Session*> session{nullptr};
  std::uint32_t probe = 0;
  std::uint64_t interval_ns = 0;
  bool wall = false;
};
Sampler samplers[kSamplers];

/// A sampler in a thread. The signal brings its number, and how often that has been used before:
/// one that comes late is of no clock any more.
struct Clock {
  std::atomic<SampledThread*> thread{nullptr};  // nullptr: it is free
  std::atomic<std::uint32_t> used{0};
  std::atomic<std::uint32_t> due{0};  // times, of a wall clock
  unsigned sampler = 0;
  std::atomic<int> event{-1};  // descriptor of the kernel's event; -1: it has a timer, or is a wall clock
  timer_t timer{};
  bool has_timer = false;
  std::atomic<std::uint64_t> processor_ns{0};  // of the thread, when a wall clock was last due
};
Clock clocks[kMostClocks];
constexpr unsigned kClockBits = 13;
static_assert(kMostClocks == 1u << kClockBits);

// By the event's descriptor: its clock, + 1.
constexpr int kMostDescriptors = 65536;
std::atomic<std::uint16_t> clock_of_event[kMostDescriptors];

int value_of(unsigned clock) {
  return static_cast<int>(clock | clocks[clock].used.load(std::memory_order_relaxed) << kClockBits);
}
int sampling_signal() { return SIGRTMIN + d::kDoorSignal + 1; }

constinit thread_local SampledThread* sampled_here = nullptr;
constinit thread_local int known_tid = 0;
int tid_here() { return known_tid ? known_tid : known_tid = static_cast<int>(gettid()); }
pid_t own_pid = 0;
bool loop_is_known = false;
ErlangRegisters registers;

// ---- The handler --------------------------------------------------------------------------------

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
/// Of DWARF ("System V Application Binary Interface, AMD64", figure 3.36).
constexpr int kOfDwarf[] = {0, 2, 1, 3, 7, 6, 4, 5, 8, 9, 10, 11, 12, 13, 14, 15};

#else

struct Registers {
  explicit Registers(const ucontext_t&) {}
  const void* pc() const { return nullptr; }
  Word at(int) const { return 0; }
};
constexpr int kOfDwarf[16] = {};

#endif

/// Where the process that the thread runs is, as registers say.
struct Place {
  const Word* at = nullptr;
  const Term* stack = nullptr;
  bool in_loop = false;  // the thread is in it, or in hot code
  bool native = false;   // in what the instruction calls
  int frames_left = kMostNativeFrames;
};

_Unwind_Reason_Code look_at_frame(_Unwind_Context* frame, void* into) {
  Place& place = *static_cast<Place*>(into);
  int is_interrupted = 0;
  const _Unwind_Word ip = _Unwind_GetIPInfo(frame, &is_interrupted);
  const auto* pc = reinterpret_cast<const void*>(is_interrupted ? ip : ip - 1);
  if (is_in_loop(pc))
    place.at = reinterpret_cast<const Word*>(_Unwind_GetGR(frame, kOfDwarf[registers.instruction]));
  else place.at = instruction_of_hot_code(pc);
  if (!place.at) return --place.frames_left ? _URC_NO_REASON : _URC_NORMAL_STOP;
  place.stack = reinterpret_cast<const Term*>(_Unwind_GetGR(frame, kOfDwarf[registers.stack]));
  return _URC_NORMAL_STOP;
}

/// The unwinder takes no lock: glibc finds what describes a frame without (_dl_find_object).
Place place_of(const Registers& interrupted) {
  Place place;
  const void* const pc = interrupted.pc();
  if (is_in_loop(pc)) place.at = reinterpret_cast<const Word*>(interrupted.at(registers.instruction));
  else place.at = instruction_of_hot_code(pc);
  if (place.at) {
    place.in_loop = true;
    place.stack = reinterpret_cast<const Term*>(interrupted.at(registers.stack));
    return place;
  }
  place.native = true;
  (void)_Unwind_Backtrace(look_at_frame, &place);
  return place;
}

/// Of memory that may have been given back: what can be read of it.
std::size_t read_words(const Term* from, std::size_t count, Word* to) {
  const iovec there{const_cast<Term*>(from), count * sizeof(Word)}, here{to, count * sizeof(Word)};
  const ssize_t bytes = syscall(SYS_process_vm_readv, own_pid, &here, 1, &there, 1, 0);
  return bytes < 0 ? 0 : static_cast<std::size_t>(bytes) / sizeof(Word);
}

/// As stack_of (terms.cpp) does it: return addresses are the words with a header's tag.
void add_callers(Sample& s, const Term* stack, std::size_t count) {
  Word previous = s.frame_count > 1 ? s.frames[s.frame_count - 1] + 1 : s.frame_count ? s.frames[0] : 0;
  for (const Term* t = stack; t < stack + count && s.frame_count < Sample::kMostFrames; ++t) {
    if (!t->is_header() || t->raw() == 0 || t->raw() == previous) continue;
    s.frames[s.frame_count++] = (previous = t->raw()) - 1;  // inside the call
  }
}
/// The same of a stack that may be given back at this moment.
void add_readable_callers(Sample& s, const Term* stack, std::size_t count, Word (&words)[512]) {
  while (count && s.frame_count < Sample::kMostFrames) {
    const std::size_t n = read_words(stack, std::min(count, std::size(words)), words);
    if (n == 0) return;
    add_callers(s, reinterpret_cast<const Term*>(words), n);
    stack += n;
    count -= n;
  }
}
std::size_t stack_words(const Term* stack, const Heap& h) {
  const Term* const bottom = h.end - 1;  // where the machine's own code goes on
  return stack < bottom ? std::min(static_cast<std::size_t>(bottom - stack), kMostStackWords) : 0;
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

void note_place(Sample& s, const Process& p, const Registers& interrupted, SampledThread& thread) {
  s.knows_place = loop_is_known || !this_core();
  if (!s.knows_place) return;
  Place place;
  if (this_core() && this_core()->current == &p) place = place_of(interrupted);
  const Heap& h = p.heap;
  if (!place.at) place.at = p.ip;  // it has not begun, or stops; or works elsewhere
  if (place.stack < h.start || place.stack > h.end) place.stack = h.stop;
  s.native = place.native || !this_core();
  s.frames[0] = reinterpret_cast<std::uintptr_t>(place.at);
  s.frame_count = 1;
  const std::size_t count = stack_words(place.stack, h);
  // The loop's own code leaves the stack where it is; others may be about to move or free it.
  if (!s.native && place.in_loop && !p.exiting.load(std::memory_order_relaxed))
    add_callers(s, place.stack, count);
  else add_readable_callers(s, place.stack, count, thread.words);
}

bool is_same(const Sample& a, const Sample& b) {
  return a.process == b.process && a.knows_place == b.knows_place && a.native == b.native &&
         a.frame_count == b.frame_count && std::strcmp(a.activity, b.activity) == 0 &&
         std::memcmp(a.frames, b.frames, a.frame_count * sizeof *a.frames) == 0;
}

/// The one before, if it is the same and still waits.
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
  // Pairs with the release in take_out: the place is not read any more.
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
  s.time_ns = now_ns();
  s.process = s.name = kNonValue;
  s.frame_count = 0;
  s.native = false;
  s.knows_place = true;
  const Activity* const activity = activity_here;
  std::atomic_signal_fence(std::memory_order_acquire);
  const Process* const p = activity && activity->process ? activity->process : process_here();
  if (p) {
    note_process(s, *p, core);
    note_place(s, *p, interrupted, thread);
  }
  note_activity(s, thread, activity);
  if (!add_to_last(thread, now, put, times)) {
    now.count.store(times, std::memory_order_relaxed);
    // Pairs with the acquire in take_out: the sample is complete.
    thread.put.store(put + 1, std::memory_order_release);
  }
  sampled_here = &thread;
  samples_wait = true;
}

/// The clock whose signal it is; nullptr: it has been stopped. times: as often as it was due.
Clock* clock_of(const siginfo_t& info, std::uint32_t* times) {
  if (info.si_code == SI_TIMER || info.si_code == SI_QUEUE) {
    const auto value = static_cast<std::uint32_t>(info.si_value.sival_int);
    Clock& clock = clocks[value % kMostClocks];
    if (clock.used.load(std::memory_order_relaxed) << kClockBits != value >> kClockBits << kClockBits)
      return nullptr;
    *times = info.si_code == SI_TIMER ? 1 + static_cast<std::uint32_t>(info.si_overrun)
                                      : clock.due.exchange(0, std::memory_order_relaxed);
    return &clock;
  }
  if (info.si_code <= 0 || info.si_fd < 0 || info.si_fd >= kMostDescriptors) return nullptr;
  const unsigned number = clock_of_event[info.si_fd].load(std::memory_order_acquire);
  *times = 1;
  return number ? &clocks[number - 1] : nullptr;
}

void handle(int, siginfo_t* info, void* context) {
  const int error = errno;
  std::uint32_t times = 0;
  Clock* const clock = clock_of(*info, &times);
  SampledThread* const thread = clock ? clock->thread.load(std::memory_order_acquire) : nullptr;
  if (thread && times && thread->tid.load(std::memory_order_relaxed) == tid_here()) {
    if (samplers[clock->sampler].wall)
      clock->processor_ns.store(own_processor_ns(), std::memory_order_relaxed);
    take_sample(*thread, clock->sampler, times, Registers(*static_cast<ucontext_t*>(context)));
  }
  errno = error;
}

// ---- Firing what has been taken -----------------------------------------------------------------

constexpr unsigned kMostActivities = 256;
char activity_places[kMostActivities];  // only their addresses mean something
std::atomic<const char*> activity_names[kMostActivities];

/// Names are added, never taken away.
std::uint64_t place_of_activity(const char* text) {
  for (unsigned i = 0; i < kMostActivities; ++i) {
    const char* name = activity_names[i].load(std::memory_order_acquire);
    if (!name) {
      const char* const mine = strdup(text);
      if (activity_names[i].compare_exchange_strong(name, mine, std::memory_order_acq_rel)) name = mine;
      else std::free(const_cast<char*>(mine));
    }
    if (name && std::strcmp(name, text) == 0) return reinterpret_cast<std::uintptr_t>(activity_places + i);
  }
  return 0;
}

/// The built-in function that the instruction calls.
const Export* called_by(const Word* at) {
  if (!function_header_at(at)) return nullptr;
  const std::uint16_t operation = operation_at(at);
  if (operation >= op::kOpCount) return nullptr;
  static Export* const send = export_entry(atoms::erlang, atoms::send, 2);
  if (operation == op::send) return send;
  const InstructionRow& row = op::kInstructions[operation];
  if (!row.built_in) return nullptr;
  const auto* const called = field<const Export*>(at, row.built_in);
  // The registers may have been another's when the process was about to begin: any word.
  const Export* const there = export_of_stub(called->stub_code());
  return there == called && there->bif ? there : nullptr;
}

/// What only code can tell, while it is there.
void resolve(Sample& s) {
  const EpochGuard guard;
  if (!s.knows_place && s.owner) {
    s.frames[0] = reinterpret_cast<std::uintptr_t>(s.owner->ip);
    s.frame_count = 1;
    add_callers(s, s.owner->heap.stop, stack_words(s.owner->heap.stop, s.owner->heap));
  }
  const auto* const at = s.frame_count ? reinterpret_cast<const Word*>(s.frames[0]) : nullptr;
  s.built_in = at && s.native && !s.activity[0] ? called_by(at) : nullptr;
  if (at && !function_header_at(at)) {  // code of the machine's own: callers alone
    --s.frame_count;
    std::memmove(s.frames, s.frames + 1, s.frame_count * sizeof *s.frames);
  }
  // No code yet, or none any more: the process begins or ends.
  if (s.frame_count == 0 && !s.activity[0]) std::strcpy(s.activity, "[scheduler]");
  s.activity_place = s.activity[0] ? place_of_activity(s.activity) : 0;
}

void fire_waiting(SampledThread& thread, Waiting& w, const Process* owner) {
  const std::uint32_t times = w.count.exchange(0, std::memory_order_acq_rel);
  Sample& s = w.sample;
  s.owner = owner && owner->id == s.process ? owner : nullptr;
  const bool noted = s.process && thread.noted_process == s.process;
  s.label = noted ? &thread.noted_label : nullptr;
  s.label_bytes = thread.noted_bytes;
  resolve(s);
  const Sampler& sampler = samplers[w.sampler];
  if (d::Session* session = sampler.session.load(std::memory_order_acquire))
    fire_sample(*session, sampler.probe, s, times);
}

/// Nobody else takes samples of the thread as long as it lives, if it is `mine`.
struct Taking {
  explicit Taking(SampledThread& thread)
      : thread(thread), mine(!thread.taking.exchange(true, std::memory_order_acquire)) {}
  ~Taking() {
    if (mine) thread.taking.store(false, std::memory_order_release);
  }
  Taking(const Taking&) = delete;

  SampledThread& thread;
  const bool mine;
};

/// until_ns: younger ones wait.
void take_out(SampledThread& thread, const Process* owner, std::uint64_t until_ns) {
  const Taking taking(thread);
  if (!taking.mine) return;
  std::uint32_t taken = thread.taken.load(std::memory_order_relaxed);
  while (taken != thread.put.load(std::memory_order_acquire)) {
    Waiting& w = thread.waiting[taken % kWaiting];
    if (w.sample.time_ns > until_ns) return;
    fire_waiting(thread, w, owner);
    thread.taken.store(++taken, std::memory_order_release);
  }
}

/// Of the calling thread. What it had when somebody profiled before may be another's by now.
SampledThread* sampled_thread() {
  const auto is_mine = [tid = tid_here()](const SampledThread* t) {
    return t && t->tid.load(std::memory_order_acquire) == tid;
  };
  if (is_mine(sampled_here)) return sampled_here;
  for (const Clock& c : clocks)
    if (SampledThread* t = c.thread.load(std::memory_order_acquire); is_mine(t)) return sampled_here = t;
  return nullptr;
}

void deliver(const Process* owner) {
  samples_wait = false;
  SampledThread* const thread = sampled_thread();
  // In the midst of a firing nothing else fires: they wait for the next slice.
  if (thread && !is_firing()) take_out(*thread, owner, ~std::uint64_t{0});
}

void note_process_here(const Process& p) {
  SampledThread* const thread = sampled_thread();
  if (!thread) return;
  const Taking taking(*thread);
  if (!taking.mine) return;
  thread->noted_process = p.id;
  thread->noted_label = label_of(p, thread->noted_bytes, sizeof thread->noted_bytes);
}

[[maybe_unused]] const bool filled_in =
    (deliver_samples = deliver, note_sampled_process = note_process_here, true);

// ---- Threads and their clocks: the controlling thread -------------------------------------------

std::map<int, SampledThread*> threads;  // by tid
std::vector<SampledThread*> free_threads;
std::uint64_t scanned_ns = 0;
unsigned next_clock = 0;

bool is_sampling() {
  return std::ranges::any_of(samplers,
                             [](const Sampler& s) { return s.session.load(std::memory_order_relaxed); });
}

/// The processor time of a thread of this process (clock_getres(2); pthread_getcpuclockid's, for a
/// thread that is known by its number).
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
    (void)ioctl(event, PERF_EVENT_IOC_DISABLE, 0);  // a child that is about to begin a program has it too
    clock_of_event[event].store(0, std::memory_order_release);
    close(event);
  }
  if (std::exchange(c.has_timer, false)) (void)timer_delete(c.timer);
  c.used.fetch_add(1, std::memory_order_relaxed);
  c.thread.store(nullptr, std::memory_order_release);
}

/// The kernel's own clock for profilers, which is exact to the microsecond. -1: there is none for
/// us (perf_event_paranoid, a container's filter, no descriptor is left).
int open_event(int tid, std::uint64_t interval_ns) {
  perf_event_attr attributes{};
  attributes.size = sizeof attributes;
  attributes.type = PERF_TYPE_SOFTWARE;
  attributes.config = PERF_COUNT_SW_TASK_CLOCK;
  attributes.sample_period = interval_ns;
  attributes.disabled = 1;
  attributes.exclude_hv = 1;
  for (const bool without_kernel : {false, true}) {
    attributes.exclude_kernel = without_kernel;
    const long fd = syscall(SYS_perf_event_open, &attributes, tid, -1, -1, PERF_FLAG_FD_CLOEXEC);
    if (fd >= 0) return static_cast<int>(fd);
  }
  return -1;
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

/// Processor time as the kernel counts it at its tick, which is all that POSIX promises.
bool start_timer(Clock& c, unsigned number, int tid, std::uint64_t interval_ns) {
  sigevent event{};
  event.sigev_notify = SIGEV_THREAD_ID;
  event.sigev_signo = sampling_signal();
  event.sigev_value.sival_int = value_of(number);
  event._sigev_un._tid = tid;
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
  if (!start_event(*c, number, tid, s.interval_ns) && !start_timer(*c, number, tid, s.interval_ns))
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

/// All but the calling one: it only does what tracing asks for.
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
  scanned_ns = now_ns();
  const std::vector<int> there = threads_there_are();
  std::erase_if(threads, [&](const auto& known) {
    if (std::ranges::find(there, known.first) != there.end()) return false;
    remove_thread(*known.second);
    return true;
  });
  for (const int tid : there)
    if (!threads.contains(tid)) add_thread(tid);
}

void install_handler() {
  static const bool done = [] {
    own_pid = getpid();
    struct sigaction action {};
    action.sa_sigaction = handle;
    // Calls that it interrupts go on; the interrupted stack may have no room.
    action.sa_flags = SA_SIGINFO | SA_RESTART | SA_ONSTACK;
    sigemptyset(&action.sa_mask);
    // It stays for ever: a signal that comes late finds it.
    (void)sigaction(sampling_signal(), &action, nullptr);
    // What the kernel sends instead when too many signals wait; it would end the machine.
    struct sigaction before {};
    if (sigaction(SIGIO, nullptr, &before) == 0 && before.sa_handler == SIG_DFL) std::signal(SIGIO, SIG_IGN);
    return true;
  }();
  (void)done;
  if (!loop_is_known) loop_is_known = find_places_in_code(&registers);
  // What the unwinder does at its first call it does here.
  (void)_Unwind_Backtrace([](_Unwind_Context*, void*) { return _URC_NO_REASON; }, nullptr);
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

/// Whether it has run since it was last asked.
bool has_run(Clock& c, const SampledThread& thread) {
  const std::uint64_t now = processor_ns(thread.tid.load(std::memory_order_relaxed));
  return now > c.processor_ns.exchange(now, std::memory_order_relaxed) + kAsleepNs;
}

void fire_idle(d::Session& session, std::uint32_t probe, const SampledThread& thread, std::uint32_t times) {
  static Sample& s = *new Sample;
  s.tid = thread.tid.load(std::memory_order_relaxed);
  s.scheduler = thread.scheduler;
  s.time_ns = now_ns();
  std::strcpy(s.activity, "[idle]");
  resolve(s);
  fire_sample(session, probe, s, times);
}

}  // namespace

const char* activity_at(std::uint64_t address) {
  const std::uint64_t i = address - reinterpret_cast<std::uintptr_t>(activity_places);
  return i < kMostActivities ? activity_names[i].load(std::memory_order_acquire) : nullptr;
}

bool start_sampling(d::Session& session, std::uint32_t probe, std::uint64_t interval_ns, bool wall) {
  const auto unused = std::ranges::find_if(
      samplers, [](const Sampler& s) { return !s.session.load(std::memory_order_relaxed); });
  if (unused == std::end(samplers)) return false;
  install_handler();
  unused->probe = probe;
  unused->interval_ns = interval_ns;
  unused->wall = wall;
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
  wait_for_firings();  // of those that have seen it
  if (is_sampling()) return;
  processes_sampled.store(false, std::memory_order_relaxed);
  for (const auto& [tid, thread] : threads) remove_thread(*thread);
  threads.clear();
}

void look_after_samples(bool all) {
  if (!is_sampling()) return;
  const std::uint64_t now = now_ns();
  if (now - scanned_ns > kScanEveryNs) scan_threads();
  const std::uint64_t patience = all ? kPatienceAtTickNs : kPatienceNs;
  for (const auto& [tid, thread] : threads) {
    take_out(*thread, nullptr, thread->scheduler ? now - patience : now);
    // They are lost to all sessions' clocks alike.
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
