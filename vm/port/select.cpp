// SPDX-License-Identifier: Apache-2.0
#include "vm/port/select.hpp"

#include <fcntl.h>
#include <sys/epoll.h>

#include <cerrno>
#include <cstdio>
#include <memory>
#include <mutex>

#include "vm/port/callbacks.hpp"
#include "vm/port/driver.hpp"
#include "vm/port/driver_api.hpp"
#include "vm/port/task.hpp"
#include "vm/process/report.hpp"
#include "vm/sched/descriptors.hpp"
#include "vm/sched/poll.hpp"
#include "vm/term/print.hpp"

namespace vmrun {

namespace {

// ---- The state of each descriptor ---------------------------------------------------------------

enum Direction : std::uint8_t { kRead = 1, kWrite = 2, kEvent = 4 };

/// What ports want of a descriptor. Guarded by the descriptor's lock.
struct PortSelection final : DescriptorUser {
  explicit PortSelection(int fd) : descriptor(*descriptors.at(fd)) {}

  void ready(std::uint32_t events, std::unique_lock<SpinLock>& lock) override;
  std::unique_ptr<FormerUser> give_up() override;

  void note_use() { used_in_look = poll_looks.load(std::memory_order_seq_cst); }
  void tried(std::uint8_t directions) {
    is_ready = (is_ready & static_cast<std::uint8_t>(~directions)) | ended;
  }
  Term& port_for(Direction d) { return d == kWrite ? writer : reader; }
  bool is_user() const { return descriptor.user == this; }
  int fd() const { return descriptor.fd; }

  Descriptor& descriptor;     // its armed events may cover pending directions
  std::uint8_t wanted = 0;    // directions selected
  std::uint8_t pending = 0;   // directions whose task has not run yet
  bool always_ready = false;  // epoll cannot wait for it: a regular file, for example
  bool by_edges = false;      // registered once; `is_ready` knows between two events
  // Directions that were reported, or are known to be ready, and not tried since.
  std::uint8_t is_ready = 0;
  // Directions whose end was reported. It is reported once: they stay ready for ever.
  std::uint8_t ended = 0;
  // The poller's last look at the moment when a driver last may have read or written. What that
  // look reports may be old. With level triggering the next look reports it again if it still
  // holds.
  Word used_in_look = 0;
  Term reader, writer;  // ports; the reader has the event too
  ErlDrvEventData event_data = nullptr;
  std::uint32_t event_ready = 0;
};
constinit ByDescriptor<PortSelection> selections;

int fd_of(ErlDrvEvent event) { return static_cast<int>(reinterpret_cast<SWord>(event)); }
ErlDrvEvent event_of(int fd) { return reinterpret_cast<ErlDrvEvent>(static_cast<SWord>(fd)); }

// ---- The poller ---------------------------------------------------------------------------------

std::uint32_t events_for(const PortSelection& d, std::uint8_t directions) {
  std::uint32_t events = 0;
  if (directions & kRead) events |= EPOLLIN;
  if (directions & kWrite) events |= EPOLLOUT;
  if (directions & kEvent && d.event_data)
    events |= static_cast<std::uint16_t>(d.event_data->events);  // poll's bits are epoll's
  return events;
}

void queue_ready(Term port, Direction direction, int fd, std::uint32_t generation);

/// Registers those that are wanted and not pending.
int arm_wanted(PortSelection& d) {
  return arm(d.descriptor, events_for(d, d.wanted & static_cast<std::uint8_t>(~d.pending)));
}

/// Waits for the directions that are wanted and not pending; `fresh`: what to report at once where
/// nothing can be waited for. An errno.
int wait_for_wanted(PortSelection& d, std::uint8_t* fresh) {
  const std::uint8_t directions = d.wanted & ~d.pending;
  if (!directions) return 0;
  if (d.by_edges) {
    *fresh = directions & d.is_ready;
    d.pending |= *fresh;
    return arm(d.descriptor, EPOLLIN | EPOLLOUT | EPOLLRDHUP | EPOLLET);
  }
  if (!d.always_ready) {
    const std::uint32_t events = events_for(d, directions);
    if ((d.descriptor.armed & events) == events) return 0;
    const int error = arm(d.descriptor, events);
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
    PortSelection& d = *selections.at(fd);
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

  void drop(Term port) override { end(*selections.at(fd), port, true); }
  Term kind() const override { return intern_atom(direction == kWrite ? "output" : "input"); }

  /// Whether it is still this port's and wanted.
  bool begin(PortSelection& d, Term port) {
    std::lock_guard guard(d.descriptor.lock);
    if (d.descriptor.generation != generation || d.port_for(direction) != port || !(d.wanted & direction))
      return false;
    d.tried(direction);  // from here on the driver sees what arrives, or it is reported
    if (direction == kEvent) {
      event_data = d.event_data;
      event_data->revents = static_cast<short>(d.event_ready);
    }
    return true;
  }

  void end(PortSelection& d, Term port, bool gone) {
    std::uint8_t fresh = 0;
    Term reader, writer;
    {
      std::lock_guard guard(d.descriptor.lock);
      if (d.descriptor.generation != generation || (d.port_for(direction) != port && d.port_for(direction)))
        return;
      d.pending &= static_cast<std::uint8_t>(~direction);
      d.note_use();
      if (gone) {
        d.wanted &= static_cast<std::uint8_t>(~direction);
        d.port_for(direction) = kNonValue;
        if (!d.by_edges) arm_wanted(d);
      } else {
        wait_for_wanted(d, &fresh);
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

void PortSelection::ready(std::uint32_t events, std::unique_lock<SpinLock>& lock) {
  if (!by_edges && used_in_look == poll_looks.load(std::memory_order_relaxed)) return;
  std::uint8_t came = 0;
  constexpr std::uint32_t kBroken = EPOLLHUP | EPOLLERR;
  if (events & (EPOLLIN | kBroken)) came |= kRead;
  if (events & (EPOLLOUT | kBroken)) came |= kWrite;
  if (wanted & kEvent) {
    came |= kEvent;
    event_ready = events;
  }
  if (events & EPOLLHUP) ended = kRead | kWrite;
  else if (events & EPOLLRDHUP) ended |= kRead;
  if (by_edges) is_ready |= came;
  came &= wanted;
  const auto fresh = static_cast<std::uint8_t>(came & ~pending);
  // What is still pending, or not wanted, is taken out of epoll until the task has run.
  const bool repeated = came & pending || !came;
  pending |= fresh;
  if (repeated && !by_edges) arm_wanted(*this);
  const std::uint32_t generation = descriptor.generation;
  const Term to_reader = reader, to_writer = writer;
  lock.unlock();
  queue_fresh(to_reader, to_writer, fresh, fd(), generation);
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

/// Names the driver and port that used a descriptor; empty if there is none, or if it is gone.
std::string user_text(Term port, const char* what) {
  Port* p = port ? port_table.find_open(port) : nullptr;
  if (!p || !try_retain_port(*p)) return {};
  std::string text = std::string(" ") + what + p->driver->name + " " + term_text(p->id);
  release_reference(*p);
  return text;
}

/// Ports that have lost a descriptor.
class FormerPorts final : public FormerUser {
 public:
  FormerPorts(Term reader, Term writer) : reader_(reader), writer_(writer) {}
  std::string text() const override {
    return user_text(reader_, "input driver ") + user_text(writer_, "output driver ");
  }

 private:
  const Term reader_, writer_;
};

void report_steal(const Port& stealing, int fd, int mode, const std::string& from) {
  if (from.empty()) return;
  char call[128];
  std::snprintf(call, sizeof call, "driver_select(%p, %d,%s, 1) by ", static_cast<const void*>(&stealing), fd,
                mode_text(mode).c_str());
  report_error(call + stealing.driver->name + " driver " + term_text(stealing.id) +
               " stealing control of fd=" + std::to_string(fd) + " from" + from + "\n");
}

std::uint8_t directions_of(int mode) {
  return static_cast<std::uint8_t>((mode & ERL_DRV_READ ? kRead : 0) | (mode & ERL_DRV_WRITE ? kWrite : 0));
}

/// Returns the port that had it before, kNonValue when there is none.
Term take_over(PortSelection& d, Direction direction, Term port) {
  Term& owner = d.port_for(direction);
  const Term former = owner == port ? kNonValue : owner;
  if (owner != port)
    d.pending &= static_cast<std::uint8_t>(
        ~direction);  // a task of the former owner finds that it is not the owner any more
  // The former owner may have closed it, and the number may belong to another file, which epoll
  // does not know.
  if (owner && owner != port) forget_registration(d.descriptor);
  owner = port;
  d.wanted |= direction;
  return former;
}

void let_go(PortSelection& d, Direction direction, Term port) {
  Term& owner = d.port_for(direction);
  if (owner != port) return;
  d.wanted &= static_cast<std::uint8_t>(~direction);
  if (!(direction & (kRead | kEvent)) || !(d.wanted & (kRead | kEvent))) owner = kNonValue;
}
void let_go_of(PortSelection& d, std::uint8_t directions, Term port) {
  if (directions & kRead) let_go(d, kRead, port);
  if (directions & kWrite) let_go(d, kWrite, port);
}

int switch_on(Port& p, PortSelection& d, int mode, bool by_edges) {
  const std::uint8_t directions = directions_of(mode);
  std::uint8_t fresh = 0;
  std::uint32_t generation;
  std::unique_ptr<FormerUser> previous;
  Term previous_reader = kNonValue, previous_writer = kNonValue, reader, writer;
  int error;
  {
    std::lock_guard guard(d.descriptor.lock);
    previous = begin_use(d.descriptor, d);
    // Without ERL_DRV_USE the machine does not learn when a descriptor is closed: this may be
    // another one.
    if (!d.wanted) d.always_ready = false;
    if (directions & kRead) previous_reader = take_over(d, kRead, p.id);
    if (directions & kWrite) previous_writer = take_over(d, kWrite, p.id);
    d.by_edges |= by_edges;
    error = wait_for_wanted(d, &fresh);
    if (error) let_go_of(d, directions, p.id);
    generation = d.descriptor.generation;
    reader = d.reader;
    writer = d.writer;
  }
  report_steal(p, d.fd(), mode,
               (previous ? previous->text() : "") + FormerPorts(previous_reader, previous_writer).text());
  queue_fresh(reader, writer, fresh, d.fd(), generation);
  return error ? -1 : 0;
}

int switch_off(Port& p, PortSelection& d, int mode) {
  const bool calls_back = (mode & ERL_DRV_USE_NO_CALLBACK) == ERL_DRV_USE;
  const std::uint8_t directions =
      calls_back ? std::uint8_t{kRead | kWrite} : directions_of(mode);  // it is not used any more
  bool unused = false;
  {
    std::lock_guard guard(d.descriptor.lock);
    d.note_use();
    let_go_of(d, directions, p.id);
    if (mode & ERL_DRV_USE && d.wanted == 0) {
      if (d.is_user()) (void)end_use(d.descriptor);
      unused = true;
    } else if (d.is_user() && !d.by_edges) {
      // At once, since old drivers close the descriptor without a call.
      arm_wanted(d);
    }
  }
  // No thread polls for it any more, and its generation makes earlier reports stale, so it may be
  // closed now.
  if (unused && calls_back) call_stop_select(*p.driver, event_of(d.fd()));
  return 0;
}

int select_as(Port& p, ErlDrvEvent event, int mode, bool on, bool by_edges) {
  PortSelection* d = selections.at(fd_of(event));
  if (!d) return -1;
  return on ? switch_on(p, *d, mode, by_edges) : switch_off(p, *d, mode);
}

std::unique_ptr<FormerUser> PortSelection::give_up() {
  auto former = std::make_unique<FormerPorts>(reader, writer);
  wanted = pending = is_ready = ended = 0;
  always_ready = by_edges = false;
  reader = writer = kNonValue;
  return former;
}

}  // namespace

int select_descriptor(Port& p, ErlDrvEvent event, int mode, bool on) {
  return select_as(p, event, mode, on, false);
}
int select_by_edges(Port& p, ErlDrvEvent event, int mode, bool on) {
  return select_as(p, event, mode, on, true);
}

void note_ready(ErlDrvEvent event, int mode, bool ready) {
  PortSelection& d = *selections.at(fd_of(event));
  const std::uint8_t directions = directions_of(mode);
  std::lock_guard guard(d.descriptor.lock);
  if (ready) d.is_ready |= directions;
  else d.tried(directions);
}

int select_event(Port& p, ErlDrvEvent event, ErlDrvEventData data) {
  PortSelection* const d = selections.at(fd_of(event));
  if (!d) return -1;
  std::uint8_t fresh = 0;
  std::uint32_t generation;
  std::unique_ptr<FormerUser> previous;
  int error = 0;
  {
    std::lock_guard guard(d->descriptor.lock);
    d->event_data = data;
    if (data) {
      previous = begin_use(d->descriptor, *d);
      take_over(*d, kEvent, p.id);
      error = wait_for_wanted(*d, &fresh);
      if (error) d->wanted &= static_cast<std::uint8_t>(~kEvent);
    } else {
      let_go(*d, kEvent, p.id);
      if (d->is_user()) arm_wanted(*d);
    }
    generation = d->descriptor.generation;
  }
  queue_fresh(p.id, kNonValue, fresh & kEvent, d->fd(), generation);
  return error ? -1 : 0;
}

SelectedDescriptors selected_descriptors() {
  SelectedDescriptors all;
  all.bytes = selections.bytes() + descriptors.bytes();
  selections.for_each([&](PortSelection& d) {
    std::lock_guard guard(d.descriptor.lock);
    if (!d.is_user() || (!d.reader && !d.writer && !d.descriptor.armed)) return;
    ++all.known;
    all.closed += fcntl(d.fd(), F_GETFD) < 0;
    all.active += d.pending && d.wanted;
  });
  return all;
}

}  // namespace vmrun
