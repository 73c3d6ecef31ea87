#include "vm/port/poll.hpp"

#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <mutex>

#include "vm/base/allocate.hpp"
#include "vm/base/clock.hpp"
#include "vm/base/epoch.hpp"
#include "vm/base/parker.hpp"
#include "vm/base/spin_lock.hpp"
#include "vm/base/thread.hpp"
#include "vm/port/callbacks.hpp"
#include "vm/port/driver.hpp"
#include "vm/port/driver_api.hpp"
#include "vm/port/task.hpp"
#include "vm/process/report.hpp"
#include "vm/sched/scheduler.hpp"
#include "vm/term/print.hpp"

namespace vmrun {

std::atomic<int> registered_descriptors{0};

namespace {

// ---- What is known of each descriptor -----------------------------------------------------------

enum Direction : std::uint8_t { kRead = 1, kWrite = 2, kEvent = 4 };

struct Descriptor {
  SpinLock lock;
  std::uint8_t wanted = 0;    // directions selected
  std::uint8_t pending = 0;   // directions whose task has not run yet
  bool always_ready = false;  // nothing epoll can wait for: a regular file, say
  std::uint32_t armed =
      0;  // epoll events it is registered with; 0: not registered. May cover pending directions
  std::uint32_t generation =
      0;  // counts closings, so that what was ready before is not taken for news of the next owner
  Term reader, writer;  // ports; the reader has the event too
  ErlDrvEventData event_data = nullptr;
  std::uint32_t event_ready = 0;

  Term& port_for(Direction d) { return d == kWrite ? writer : reader; }
};

constexpr int kChunkBits = 10, kChunks = 1 << 12;
std::atomic<Descriptor*> chunks[kChunks];

Descriptor* descriptor(int fd) {
  if (fd < 0 || fd >> kChunkBits >= kChunks) return nullptr;
  std::atomic<Descriptor*>& chunk = chunks[fd >> kChunkBits];
  Descriptor* first = chunk.load(std::memory_order_acquire);
  if (!first) {
    auto* fresh = new Descriptor[1 << kChunkBits];
    if (chunk.compare_exchange_strong(first, fresh, std::memory_order_acq_rel)) first = fresh;
    else delete[] fresh;
  }
  return first + (fd & ((1 << kChunkBits) - 1));
}

int fd_of(ErlDrvEvent event) { return static_cast<int>(reinterpret_cast<SWord>(event)); }
ErlDrvEvent event_of(int fd) { return reinterpret_cast<ErlDrvEvent>(static_cast<SWord>(fd)); }

// ---- epoll --------------------------------------------------------------------------------------

int epoll_fd = -1, interrupt_fd = -1;
constexpr Word kInterrupt = ~Word{0}, kNativeTag = Word{1} << 63;

// What epoll gives back: descriptor and generation; or, with the highest bit, what a native
// function waits for.
constexpr std::uint32_t kGenerationMask = 0x7FFFFFFF;
Word tag_of(int fd, std::uint32_t generation) {
  return Word{generation & kGenerationMask} << 32 | static_cast<std::uint32_t>(fd);
}

std::uint32_t events_for(const Descriptor& d, std::uint8_t directions) {
  std::uint32_t events = 0;
  if (directions & kRead) events |= EPOLLIN;
  if (directions & kWrite) events |= EPOLLOUT;
  if (directions & kEvent && d.event_data)
    events |= static_cast<std::uint16_t>(d.event_data->events);  // poll's bits are epoll's
  return events;
}

/// Registers fd with these events, or not at all. Returns an errno.
int arm(Descriptor& d, int fd, std::uint32_t events) {
  if (events == d.armed) return 0;
  epoll_event wanted{};
  wanted.events = events;
  wanted.data.u64 = tag_of(fd, d.generation);
  if (events == 0) {
    epoll_ctl(epoll_fd, EPOLL_CTL_DEL, fd, nullptr);  // fails when it has been closed already
  } else {
    // A descriptor closed and opened again behind our back is not what we think.
    int result = epoll_ctl(epoll_fd, d.armed ? EPOLL_CTL_MOD : EPOLL_CTL_ADD, fd, &wanted);
    if (result < 0 && errno == ENOENT) result = epoll_ctl(epoll_fd, EPOLL_CTL_ADD, fd, &wanted);
    else if (result < 0 && errno == EEXIST) result = epoll_ctl(epoll_fd, EPOLL_CTL_MOD, fd, &wanted);
    if (result < 0) {
      if (d.armed) registered_descriptors.fetch_sub(1, std::memory_order_relaxed);
      d.armed = 0;
      return errno;
    }
  }
  if (!d.armed != !events) registered_descriptors.fetch_add(events ? 1 : -1, std::memory_order_relaxed);
  d.armed = events;
  return 0;
}

void queue_ready(Term port, Direction direction, int fd, std::uint32_t generation);

/// Waits for the directions that are wanted and not pending; `fresh`: what to report at once where
/// nothing can be waited for. An errno.
int wait_for_wanted(Descriptor& d, int fd, std::uint8_t* fresh) {
  const std::uint8_t directions = d.wanted & ~d.pending;
  if (!directions) return 0;
  if (!d.always_ready) {
    const std::uint32_t events = events_for(d, directions);
    if ((d.armed & events) == events) return 0;
    const int error = arm(d, fd, events);
    if (error != EPERM) return error;
    d.always_ready = true;
  }
  *fresh = directions;
  d.pending |= directions;
  return 0;
}

void queue_fresh(Term reader, Term writer, std::uint8_t fresh, int fd, std::uint32_t generation) {
  if (fresh & kRead) queue_ready(reader, kRead, fd, generation);
  if (fresh & kWrite) queue_ready(writer, kWrite, fd, generation);
  if (fresh & kEvent) queue_ready(reader, kEvent, fd, generation);
}

// ---- The task of a port whose descriptor is ready -----------------------------------------------

struct ReadyTask final : PortTask {
  ReadyTask(Direction direction, int fd, std::uint32_t generation)
      : direction(direction), fd(fd), generation(generation) {}

  void run(Port& p) override {
    Descriptor& d = *descriptor(fd);
    if (begin(d, p.id)) {
      switch (direction) {
        case kRead: call_ready_input(p, event_of(fd)); break;
        case kWrite: call_ready_output(p, event_of(fd)); break;
        case kEvent: call_event(p, event_of(fd), event_data); break;
      }
    }
    end(d, p.id, false);
    finish_closing(p);
  }

  void drop(Term port) override { end(*descriptor(fd), port, true); }

  /// Whether it is still this port's and wanted.
  bool begin(Descriptor& d, Term port) {
    std::lock_guard guard(d.lock);
    if (d.generation != generation || d.port_for(direction) != port || !(d.wanted & direction)) return false;
    if (direction == kEvent) {
      event_data = d.event_data;
      event_data->revents = static_cast<short>(d.event_ready);
    }
    return true;
  }

  void end(Descriptor& d, Term port, bool gone) {
    std::uint8_t fresh = 0;
    Term reader, writer;
    {
      std::lock_guard guard(d.lock);
      if (d.generation != generation || (d.port_for(direction) != port && d.port_for(direction))) return;
      d.pending &= static_cast<std::uint8_t>(~direction);
      if (gone) {
        d.wanted &= static_cast<std::uint8_t>(~direction);
        d.port_for(direction) = kNonValue;
        arm(d, fd, events_for(d, d.wanted & ~d.pending));
      } else {
        wait_for_wanted(d, fd, &fresh);
      }
      reader = d.reader;
      writer = d.writer;
    }
    queue_fresh(reader, writer, fresh, fd, generation);
  }

  Direction direction;
  int fd;
  std::uint32_t generation;
  ErlDrvEventData event_data = nullptr;
};

void queue_ready(Term port, Direction direction, int fd, std::uint32_t generation) {
  queue_task(port, new ReadyTask(direction, fd, generation));
}

/// epoll says that a descriptor is ready.
void report(const epoll_event& event) {
  if (event.data.u64 & kNativeTag) return native_descriptor_ready(event.data.u64 & ~kNativeTag, event.events);
  const int fd = static_cast<int>(event.data.u64 & 0xFFFFFFFF);
  auto generation = static_cast<std::uint32_t>(event.data.u64 >> 32);
  Descriptor& d = *descriptor(fd);
  std::uint8_t fresh;
  Term reader, writer;
  {
    std::lock_guard guard(d.lock);
    if ((d.generation & kGenerationMask) != generation || !d.armed) return;  // closed since
    std::uint8_t ready = 0;
    constexpr std::uint32_t kBroken = EPOLLHUP | EPOLLERR;
    if (event.events & (EPOLLIN | kBroken)) ready |= kRead;
    if (event.events & (EPOLLOUT | kBroken)) ready |= kWrite;
    if (d.wanted & kEvent) {
      ready |= kEvent;
      d.event_ready = event.events;
    }
    ready &= d.wanted;
    generation = d.generation;
    fresh = ready & ~d.pending;
    // Still pending, or nothing to do with it: out, until the task has run.
    const bool repeated = ready & d.pending || !ready;
    d.pending |= fresh;
    if (repeated) arm(d, fd, events_for(d, d.wanted & ~d.pending));
    reader = d.reader;
    writer = d.writer;
  }
  queue_fresh(reader, writer, fresh, fd, generation);
}

// ---- The poller's role --------------------------------------------------------------------------

alignas(64) std::atomic<bool> role_taken{false};
std::atomic<Word> last_look_ns{0};
constexpr int kBatch = 64;
epoll_event batch[kBatch];  // of who has the role
int batch_size = 0;

constexpr Word kLookEveryNs = 200'000;

int wait_in_epoll(SWord timeout_ns) {
  static std::atomic<bool> fine{true};  // the kernel takes nanoseconds
  if (fine.load(std::memory_order_relaxed)) {
    timespec timeout{static_cast<time_t>(timeout_ns / 1'000'000'000),
                     static_cast<long>(timeout_ns % 1'000'000'000)};
    const long n =
        syscall(SYS_epoll_pwait2, epoll_fd, batch, kBatch, timeout_ns < 0 ? nullptr : &timeout, nullptr, 0);
    if (n >= 0 || errno != ENOSYS) return static_cast<int>(n);
    fine.store(false, std::memory_order_relaxed);
  }
  const SWord ms = timeout_ns < 0 ? -1 : (timeout_ns + 999'999) / 1'000'000;
  return epoll_wait(epoll_fd, batch, kBatch, ms > 1'000'000'000 ? 1'000'000'000 : static_cast<int>(ms));
}

// ---- The thread that looks when nobody else does ------------------------------------------------

std::atomic<bool> watching{false};  // no: the thread sleeps until woken
Parker watcher;
constexpr long kWatchEveryNs = 10'000'000;

void start_watching() {
  if (!watching.load(std::memory_order_relaxed) && !watching.exchange(true, std::memory_order_seq_cst))
    watcher.wake();
}

bool somebody_waits() { return role_taken.load(std::memory_order_seq_cst) || !poll_wanted(); }

[[noreturn]] void watch() {
  for (;;) {
    const auto wanted = [] { return watching.load(std::memory_order_seq_cst); };
    while (!wanted()) watcher.park(wanted);
    const timespec pause{0, kWatchEveryNs};
    nanosleep(&pause, nullptr);
    if (somebody_waits()) {
      watching.store(false, std::memory_order_seq_cst);
      if (!somebody_waits()) watching.store(true, std::memory_order_seq_cst);
    } else if (monotonic_ns() - last_look_ns.load(std::memory_order_relaxed) > kWatchEveryNs / 2 &&
               poll_claim()) {
      EpochGuard guard;
      if (poll_wait(0)) poll_dispatch();
      else poll_leave();
    }
  }
}

void start() {
  epoll_fd = epoll_create1(EPOLL_CLOEXEC);
  interrupt_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  epoll_event event{};
  event.events = EPOLLIN | EPOLLET;  // never read: each write is an edge
  event.data.u64 = kInterrupt;
  if (epoll_fd < 0 || interrupt_fd < 0 || epoll_ctl(epoll_fd, EPOLL_CTL_ADD, interrupt_fd, &event) < 0) {
    std::fprintf(stderr, "vmrun: cannot wait for descriptors: %s\n", std::strerror(errno));
    std::abort();
  }
  start_needed_thread("poller", watch).detach();
}

void ensure_started() {
  static std::once_flag once;
  std::call_once(once, start);
}

// ---- Selecting ----------------------------------------------------------------------------------

std::string mode_text(int mode) {
  std::string text;
  if (mode & ERL_DRV_READ) text += " ERL_DRV_READ";
  if (mode & ERL_DRV_WRITE) text += " ERL_DRV_WRITE";
  if (mode & ERL_DRV_USE) text += " ERL_DRV_USE";
  if (mode & ERL_DRV_USE_NO_CALLBACK & ~ERL_DRV_USE) text += "_NO_CALLBACK";
  return text;
}

/// Driver and port that used a descriptor; nothing when there is none, or it is gone.
std::string user_text(Term port, const char* what) {
  Port* p = port ? port_table.find_open(port) : nullptr;
  if (!p || !try_retain_port(*p)) return {};
  std::string text = std::string(" ") + what + p->driver->name + " " + term_text(p->id);
  release_reference(*p);
  return text;
}

void report_steal(const Port& thief, int fd, int mode, const std::string& from) {
  if (from.empty()) return;
  char call[128];
  std::snprintf(call, sizeof call, "driver_select(%p, %d,%s, 1) by ", static_cast<const void*>(&thief), fd,
                mode_text(mode).c_str());
  report_error(call + thief.driver->name + " driver " + term_text(thief.id) +
               " stealing control of fd=" + std::to_string(fd) + " from" + from + "\n");
}

std::uint8_t directions_of(int mode) {
  return static_cast<std::uint8_t>((mode & ERL_DRV_READ ? kRead : 0) | (mode & ERL_DRV_WRITE ? kWrite : 0));
}

/// Returns the port that had it before, kNonValue when there is none.
Term take_over(Descriptor& d, Direction direction, Term port) {
  Term& owner = d.port_for(direction);
  const Term former = owner == port ? kNonValue : owner;
  if (owner != port)
    d.pending &= static_cast<std::uint8_t>(
        ~direction);  // a task of the former owner finds that it is not its any more
  if (owner && owner != port && d.armed) {
    // Whoever had it may be gone and the descriptor another one by now, of which epoll knows
    // nothing.
    d.armed = 0;
    registered_descriptors.fetch_sub(1, std::memory_order_relaxed);
  }
  owner = port;
  d.wanted |= direction;
  return former;
}

int switch_on(Port& p, Descriptor& d, int fd, int mode) {
  const std::uint8_t directions = directions_of(mode);
  std::uint8_t fresh = 0;
  std::uint32_t generation;
  Term robbed_reader = kNonValue, robbed_writer = kNonValue, reader, writer;
  int error;
  {
    std::lock_guard guard(d.lock);
    if (directions & kRead) robbed_reader = take_over(d, kRead, p.id);
    if (directions & kWrite) robbed_writer = take_over(d, kWrite, p.id);
    error = wait_for_wanted(d, fd, &fresh);
    if (error) d.wanted &= static_cast<std::uint8_t>(~directions);
    generation = d.generation;
    reader = d.reader;
    writer = d.writer;
  }
  report_steal(p, fd, mode,
               user_text(robbed_reader, "input driver ") + user_text(robbed_writer, "output driver "));
  queue_fresh(reader, writer, fresh, fd, generation);
  return error ? -1 : 0;
}

void let_go(Descriptor& d, Direction direction, Term port) {
  Term& owner = d.port_for(direction);
  if (owner != port) return;
  d.wanted &= static_cast<std::uint8_t>(~direction);
  if (!(direction & (kRead | kEvent)) || !(d.wanted & (kRead | kEvent))) owner = kNonValue;
}

int switch_off(Port& p, Descriptor& d, int fd, int mode) {
  const std::uint8_t directions = directions_of(mode);
  bool unused = false;
  {
    std::lock_guard guard(d.lock);
    if (directions & kRead) let_go(d, kRead, p.id);
    if (directions & kWrite) let_go(d, kWrite, p.id);
    if (mode & ERL_DRV_USE && d.wanted == 0) {
      arm(d, fd, 0);
      ++d.generation;
      d.pending = 0;
      d.always_ready = false;
      d.reader = d.writer = kNonValue;
      unused = true;
    } else {
      // At once: drivers of old close the descriptor without a word.
      arm(d, fd, events_for(d, d.wanted & ~d.pending));
    }
  }
  // Nobody polls for it any more, and what has been reported is stale by its generation: it may be
  // closed now.
  if (unused && !(mode & ERL_DRV_USE_NO_CALLBACK & ~ERL_DRV_USE)) call_stop_select(*p.driver, event_of(fd));
  return 0;
}

}  // namespace

int select_descriptor(Port& p, ErlDrvEvent event, int mode, bool on) {
  const int fd = fd_of(event);
  Descriptor* d = descriptor(fd);
  if (!d) return -1;
  ensure_started();
  return on ? switch_on(p, *d, fd, mode) : switch_off(p, *d, fd, mode);
}

int select_event(Port& p, ErlDrvEvent event, ErlDrvEventData data) {
  const int fd = fd_of(event);
  Descriptor* d = descriptor(fd);
  if (!d) return -1;
  ensure_started();
  std::uint8_t fresh = 0;
  std::uint32_t generation;
  int error = 0;
  {
    std::lock_guard guard(d->lock);
    generation = d->generation;
    d->event_data = data;
    if (data) {
      take_over(*d, kEvent, p.id);
      error = wait_for_wanted(*d, fd, &fresh);
      if (error) d->wanted &= static_cast<std::uint8_t>(~kEvent);
    } else {
      let_go(*d, kEvent, p.id);
      arm(*d, fd, events_for(*d, d->wanted & ~d->pending));
    }
  }
  queue_fresh(p.id, kNonValue, fresh & kEvent, fd, generation);
  return error ? -1 : 0;
}

int wait_once(int fd, Word id, std::uint32_t events, bool known) {
  ensure_started();
  epoll_event wanted{};
  wanted.events = events | EPOLLONESHOT;
  wanted.data.u64 = kNativeTag | id;
  if (epoll_ctl(epoll_fd, known ? EPOLL_CTL_MOD : EPOLL_CTL_ADD, fd, &wanted) < 0) return errno;
  if (!this_scheduler()) start_watching();  // the schedulers may all sleep already, on something else
  return 0;
}

void forget_descriptor(int fd) { epoll_ctl(epoll_fd, EPOLL_CTL_DEL, fd, nullptr); }

bool poll_claim() {
  if (role_taken.load(std::memory_order_relaxed)) return false;
  return !role_taken.exchange(true, std::memory_order_seq_cst);
}

void poll_leave() {
  role_taken.store(false, std::memory_order_seq_cst);
  start_watching();
}

bool poll_wait(SWord timeout_ns) {
  batch_size = wait_in_epoll(timeout_ns);
  last_look_ns.store(monotonic_ns(), std::memory_order_relaxed);
  int kept = 0;
  for (int i = 0; i < batch_size; ++i)
    if (batch[i].data.u64 != kInterrupt) batch[kept++] = batch[i];
  batch_size = kept;
  return kept > 0;
}

void poll_interrupt() {
  const std::uint64_t one = 1;
  [[maybe_unused]] const ssize_t n = write(interrupt_fd, &one, sizeof one);
}

void poll_dispatch() {
  for (int i = 0; i < batch_size; ++i) report(batch[i]);
  poll_leave();
}

void poll_now_and_then() {
  if (monotonic_ns() - last_look_ns.load(std::memory_order_relaxed) < kLookEveryNs || !poll_claim()) return;
  if (poll_wait(0)) poll_dispatch();
  else poll_leave();
}

}  // namespace vmrun
