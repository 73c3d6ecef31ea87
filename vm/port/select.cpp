#include "vm/port/select.hpp"

#include <fcntl.h>
#include <sys/epoll.h>

#include <cerrno>
#include <cstdio>
#include <mutex>

#include "vm/base/allocate.hpp"
#include "vm/base/small_limits.hpp"
#include "vm/base/spin_lock.hpp"
#include "vm/port/callbacks.hpp"
#include "vm/port/driver.hpp"
#include "vm/port/driver_api.hpp"
#include "vm/port/task.hpp"
#include "vm/process/report.hpp"
#include "vm/sched/poll.hpp"
#include "vm/term/print.hpp"

namespace vmrun {

namespace {

// ---- The state of each descriptor ---------------------------------------------------------------

enum Direction : std::uint8_t { kRead = 1, kWrite = 2, kEvent = 4 };

struct Descriptor {
  SpinLock lock;
  std::uint8_t wanted = 0;    // directions selected
  std::uint8_t pending = 0;   // directions whose task has not run yet
  bool always_ready = false;  // epoll cannot wait for it: a regular file, for example
  bool by_edges = false;      // registered once, edge-triggered; `ready` keeps what is known between events
  // Directions that were reported ready, or are known to be, and have not been tried since.
  std::uint8_t ready = 0;
  // Directions whose end was reported. It is reported once: they stay ready for ever.
  std::uint8_t ended = 0;
  // epoll events it is registered with; 0: not registered. May include pending directions
  std::uint32_t armed = 0;
  // counts closings, so that an old readiness is not taken for news of the next owner
  std::uint32_t generation = 0;
  // The poller's last look at the moment when a driver last may have read or written. What that
  // look reports may be old. With level triggering the next look reports it again if it still
  // holds.
  Word used_in_look = 0;
  Term reader, writer;  // ports; the reader has the event too
  ErlDrvEventData event_data = nullptr;
  std::uint32_t event_ready = 0;

  void note_use() { used_in_look = poll_looks.load(std::memory_order_seq_cst); }
  void tried(std::uint8_t directions) { ready = (ready & static_cast<std::uint8_t>(~directions)) | ended; }
  Term& port_for(Direction d) { return d == kWrite ? writer : reader; }
};

constexpr int kChunkBits = usual_or_small<int>(10, 4), kChunks = 1 << 12;
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

// ---- The poller ---------------------------------------------------------------------------------

// The tag that the poller returns: descriptor and generation.
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

/// Registers fd with these events; 0: removes it. Returns an errno.
int arm(Descriptor& d, int fd, std::uint32_t events) {
  if (events == d.armed) return 0;
  const Word tag = tag_of(fd, d.generation);
  if (events == 0) {
    poll_forget(fd);
  } else {
    // A descriptor that was closed and opened again without a call of ours is not what its state
    // says.
    int error = poll_control(d.armed ? EPOLL_CTL_MOD : EPOLL_CTL_ADD, fd, events, tag);
    if (error == ENOENT) error = poll_control(EPOLL_CTL_ADD, fd, events, tag);
    else if (error == EEXIST) error = poll_control(EPOLL_CTL_MOD, fd, events, tag);
    if (error) {
      if (d.armed) registered_descriptors.fetch_sub(1, std::memory_order_relaxed);
      d.armed = 0;
      return error;
    }
  }
  if (!d.armed != !events) registered_descriptors.fetch_add(events ? 1 : -1, std::memory_order_relaxed);
  d.armed = events;
  return 0;
}

void queue_ready(Term port, Direction direction, int fd, std::uint32_t generation);

/// Waits for the directions that are wanted and not pending. *fresh: the directions to report at
/// once, if epoll cannot wait for them or they are known to be ready. Returns an errno.
int wait_for_wanted(Descriptor& d, int fd, std::uint8_t* fresh) {
  const std::uint8_t directions = d.wanted & ~d.pending;
  if (!directions) return 0;
  if (d.by_edges) {
    *fresh = directions & d.ready;
    d.pending |= *fresh;
    return arm(d, fd, EPOLLIN | EPOLLOUT | EPOLLRDHUP | EPOLLET);
  }
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
    if (direction == kRead && p.peer && p.is_open() && p.peer->wants_no_input())
      return p.peer->put_off(new ReadyTask(direction, fd, generation));
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
  Term kind() const override { return intern_atom(direction == kWrite ? "output" : "input"); }

  /// Whether the descriptor still belongs to this port and is wanted.
  bool begin(Descriptor& d, Term port) {
    std::lock_guard guard(d.lock);
    if (d.generation != generation || d.port_for(direction) != port || !(d.wanted & direction)) return false;
    d.tried(direction);  // from here on the driver sees what arrives, or it is reported
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
      d.note_use();
      if (gone) {
        d.wanted &= static_cast<std::uint8_t>(~direction);
        d.port_for(direction) = kNonValue;
        if (!d.by_edges) arm(d, fd, events_for(d, d.wanted & ~d.pending));
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

}  // namespace

// The poller says that a descriptor is ready.
void port_descriptor_ready(Word tag, std::uint32_t events) {
  const int fd = static_cast<int>(tag & 0xFFFFFFFF);
  auto generation = static_cast<std::uint32_t>(tag >> 32);
  Descriptor& d = *descriptor(fd);
  std::uint8_t fresh;
  Term reader, writer;
  {
    std::lock_guard guard(d.lock);
    if ((d.generation & kGenerationMask) != generation || !d.armed) return;  // closed since
    if (!d.by_edges && d.used_in_look == poll_looks.load(std::memory_order_relaxed)) return;
    std::uint8_t ready = 0;
    constexpr std::uint32_t kBroken = EPOLLHUP | EPOLLERR;
    if (events & (EPOLLIN | kBroken)) ready |= kRead;
    if (events & (EPOLLOUT | kBroken)) ready |= kWrite;
    if (d.wanted & kEvent) {
      ready |= kEvent;
      d.event_ready = events;
    }
    if (events & EPOLLHUP) d.ended = kRead | kWrite;
    else if (events & EPOLLRDHUP) d.ended |= kRead;
    if (d.by_edges) d.ready |= ready;
    ready &= d.wanted;
    generation = d.generation;
    fresh = ready & ~d.pending;
    // It is still pending or not wanted: it is taken out until the task has run.
    const bool repeated = ready & d.pending || !ready;
    d.pending |= fresh;
    if (repeated && !d.by_edges) arm(d, fd, events_for(d, d.wanted & ~d.pending));
    reader = d.reader;
    writer = d.writer;
  }
  queue_fresh(reader, writer, fresh, fd, generation);
}

namespace {

// ---- Selecting ----------------------------------------------------------------------------------

std::string mode_text(int mode) {
  std::string text;
  if (mode & ERL_DRV_READ) text += " ERL_DRV_READ";
  if (mode & ERL_DRV_WRITE) text += " ERL_DRV_WRITE";
  if (mode & ERL_DRV_USE) text += " ERL_DRV_USE";
  if (mode & ERL_DRV_USE_NO_CALLBACK & ~ERL_DRV_USE) text += "_NO_CALLBACK";
  return text;
}

/// Names the driver and port that used a descriptor; empty if there is none, or if it is gone.
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

/// Returns the port that had it before; kNonValue if there was none.
Term take_over(Descriptor& d, Direction direction, Term port) {
  Term& owner = d.port_for(direction);
  const Term former = owner == port ? kNonValue : owner;
  if (owner != port)
    d.pending &= static_cast<std::uint8_t>(
        ~direction);  // a task of the former owner finds that it is not the owner any more
  if (owner && owner != port && d.armed) {
    // The former owner may be gone, and the descriptor may be another one by now, which epoll does
    // not know.
    d.armed = 0;
    registered_descriptors.fetch_sub(1, std::memory_order_relaxed);
  }
  owner = port;
  d.wanted |= direction;
  return former;
}

void let_go(Descriptor& d, Direction direction, Term port) {
  Term& owner = d.port_for(direction);
  if (owner != port) return;
  d.wanted &= static_cast<std::uint8_t>(~direction);
  if (!(direction & (kRead | kEvent)) || !(d.wanted & (kRead | kEvent))) owner = kNonValue;
}
void let_go_of(Descriptor& d, std::uint8_t directions, Term port) {
  if (directions & kRead) let_go(d, kRead, port);
  if (directions & kWrite) let_go(d, kWrite, port);
}

int switch_on(Port& p, Descriptor& d, int fd, int mode, bool by_edges) {
  const std::uint8_t directions = directions_of(mode);
  std::uint8_t fresh = 0;
  std::uint32_t generation;
  Term robbed_reader = kNonValue, robbed_writer = kNonValue, reader, writer;
  int error;
  {
    std::lock_guard guard(d.lock);
    // Without ERL_DRV_USE the machine does not learn when a descriptor is closed: this may be
    // another one.
    if (!d.wanted) d.always_ready = false;
    if (directions & kRead) robbed_reader = take_over(d, kRead, p.id);
    if (directions & kWrite) robbed_writer = take_over(d, kWrite, p.id);
    d.by_edges |= by_edges;
    error = wait_for_wanted(d, fd, &fresh);
    if (error) let_go_of(d, directions, p.id);
    generation = d.generation;
    reader = d.reader;
    writer = d.writer;
  }
  report_steal(p, fd, mode,
               user_text(robbed_reader, "input driver ") + user_text(robbed_writer, "output driver "));
  queue_fresh(reader, writer, fresh, fd, generation);
  return error ? -1 : 0;
}

int switch_off(Port& p, Descriptor& d, int fd, int mode) {
  const bool calls_back = (mode & ERL_DRV_USE_NO_CALLBACK) == ERL_DRV_USE;
  const std::uint8_t directions =
      calls_back ? std::uint8_t{kRead | kWrite} : directions_of(mode);  // it is not used any more
  bool unused = false;
  {
    std::lock_guard guard(d.lock);
    d.note_use();
    let_go_of(d, directions, p.id);
    if (mode & ERL_DRV_USE && d.wanted == 0) {
      arm(d, fd, 0);
      ++d.generation;
      d.pending = 0;
      d.always_ready = d.by_edges = false;
      d.ready = d.ended = 0;
      d.reader = d.writer = kNonValue;
      unused = true;
    } else if (!d.by_edges) {
      // At once, since old drivers close the descriptor without a call.
      arm(d, fd, events_for(d, d.wanted & ~d.pending));
    }
  }
  // No thread polls for it any more, and its generation makes earlier reports stale, so it may be
  // closed now.
  if (unused && calls_back) call_stop_select(*p.driver, event_of(fd));
  return 0;
}

int select_as(Port& p, ErlDrvEvent event, int mode, bool on, bool by_edges) {
  const int fd = fd_of(event);
  Descriptor* d = descriptor(fd);
  if (!d) return -1;
  return on ? switch_on(p, *d, fd, mode, by_edges) : switch_off(p, *d, fd, mode);
}

}  // namespace

int select_descriptor(Port& p, ErlDrvEvent event, int mode, bool on) {
  return select_as(p, event, mode, on, false);
}
int select_by_edges(Port& p, ErlDrvEvent event, int mode, bool on) {
  return select_as(p, event, mode, on, true);
}

void note_ready(ErlDrvEvent event, int mode, bool ready) {
  Descriptor& d = *descriptor(fd_of(event));
  const std::uint8_t directions = directions_of(mode);
  std::lock_guard guard(d.lock);
  if (ready) d.ready |= directions;
  else d.tried(directions);
}

int select_event(Port& p, ErlDrvEvent event, ErlDrvEventData data) {
  const int fd = fd_of(event);
  Descriptor* d = descriptor(fd);
  if (!d) return -1;
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

SelectedDescriptors selected_descriptors() {
  SelectedDescriptors all;
  for (int chunk = 0; chunk < kChunks; ++chunk) {
    Descriptor* first = chunks[chunk].load(std::memory_order_acquire);
    if (!first) continue;
    all.bytes += sizeof(Descriptor) << kChunkBits;
    for (int i = 0; i < 1 << kChunkBits; ++i) {
      std::lock_guard guard(first[i].lock);
      const Descriptor& d = first[i];
      if (!d.reader && !d.writer && !d.armed) continue;
      ++all.known;
      all.closed += fcntl(chunk << kChunkBits | i, F_GETFD) < 0;
      all.active += d.pending && d.wanted;
    }
  }
  return all;
}

}  // namespace vmrun
