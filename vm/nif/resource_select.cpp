// SPDX-License-Identifier: Apache-2.0
#include "vm/nif/resource_select.hpp"

#include <fcntl.h>
#include <sys/epoll.h>

#include <cerrno>
#include <memory>
#include <mutex>
#include <string>
#include <utility>

#include "vm/heap/copy.hpp"
#include "vm/message/send.hpp"
#include "vm/nif/guard.hpp"
#include "vm/process/report.hpp"
#include "vm/sched/descriptors.hpp"
#include "vm/term/atom.hpp"

// The messages are made when the descriptor is selected, so that nothing of the environment is
// needed when it is ready. One message for one selection: epoll reports once (EPOLLONESHOT),
// directions that still wait are registered again. A selection belongs to its descriptor, and is
// guarded by the descriptor's lock. The thread that takes it off destroys it without that lock,
// because objects that messages refer to may have destructors.

namespace vmrun {
namespace {

struct Direction {
  int mode;                    // ERL_NIF_SELECT_…
  std::uint32_t wants, comes;  // epoll events to wait for, and those that make it ready
  int cancelled;
  const char* ready;
};
constexpr Direction kDirections[] = {
    {ERL_NIF_SELECT_READ, EPOLLIN, EPOLLIN | EPOLLHUP | EPOLLERR, ERL_NIF_SELECT_READ_CANCELLED,
     "ready_input"},
    {ERL_NIF_SELECT_WRITE, EPOLLOUT, EPOLLOUT | EPOLLHUP | EPOLLERR, ERL_NIF_SELECT_WRITE_CANCELLED,
     "ready_output"},
    {ERL_NIF_SELECT_ERROR, EPOLLPRI, EPOLLPRI | EPOLLERR, ERL_NIF_SELECT_ERROR_CANCELLED, "ready_error"},
};
constexpr int kCount = 3;

struct Waiting {
  Term pid{};
  Fragment* message = nullptr;  // nullptr: the direction does not wait
};

std::string type_name(const Resource& r) {
  return std::string(atom_text(r.type->module)) + ":" + std::string(atom_text(r.type->name));
}

class Selection final : public DescriptorUser, public FormerUser {
 public:
  Selection(Descriptor& d, Resource& resource) : descriptor_(d), resource_(resource) {
    resource.binary.retain();
  }
  ~Selection() override {
    for (Waiting& w : waiting)
      if (w.message) Fragment::destroy(w.message);
    resource_.binary.release();
  }

  void ready(std::uint32_t events, std::unique_lock<SpinLock>& lock) override;
  std::unique_ptr<FormerUser> give_up() override { return std::unique_ptr<FormerUser>(this); }
  const void* resource() const override { return &resource_; }
  std::string text() const override { return " resource " + type_name(resource_); }

  /// Registers what waits. An errno.
  int watch() {
    std::uint32_t events = 0;
    for (int i = 0; i < kCount; ++i)
      if (waiting[i].message) events |= kDirections[i].wants;
    return events || descriptor_.registered ? arm(descriptor_, events | EPOLLONESHOT) : 0;
  }

  Waiting waiting[kCount];

 private:
  Descriptor& descriptor_;
  Resource& resource_;  // with a reference
};

/// Messages that are not wanted any more. They are destroyed without the lock.
class Dropped {
 public:
  ~Dropped() {
    while (Fragment* f = first_) {
      first_ = f->next;
      Fragment::destroy(f);
    }
  }
  bool add(Fragment* f) {
    if (!f) return false;
    f->next = first_;
    first_ = f;
    return true;
  }

 private:
  Fragment* first_ = nullptr;
};

Fragment* take_message(Waiting& w) { return std::exchange(w.message, nullptr); }

Fragment* copy_of(Term t) {
  Fragment* f = new_fragment(copy_size_words(t, Literals::kCopied));
  f->message = copy_into(*f, t, Literals::kCopied);
  return f;
}

Fragment* message_for(const Direction& d, int mode, Resource& resource, Term message) {
  if (mode & ERL_NIF_SELECT_CUSTOM_MSG) return copy_of(message);
  Arena arena;
  const Term object = make_magic_ref(arena, resource);
  Term* hp = arena.alloc(5);
  static const Term select = intern_atom("select");
  return copy_of(make_tuple(hp, select, object, message, intern_atom(d.ready)));
}

constexpr int kInvalidEvent = INT32_MIN | ERL_NIF_SELECT_INVALID_EVENT;

/// The resource's selection, if it has the descriptor. With the lock held.
Selection* selection_of(const Descriptor& d, const Resource& resource) {
  return d.user && d.user->resource() == &resource ? static_cast<Selection*>(d.user) : nullptr;
}

/// Ends another user's selection. As a rule that user has closed the descriptor without a call, and
/// the number is in use again.
void take_from_others(Descriptor& d, const Resource& resource) {
  std::unique_ptr<FormerUser> former;
  {
    std::lock_guard lock(d.lock);
    if (!selection_of(d, resource)) former = end_use(d);
  }
  if (!former) return;
  const ProcessPointers guard;
  if (const std::string from = former->text(); !from.empty())
    report_error("enif_select by resource " + type_name(resource) +
                 " stealing control of fd=" + std::to_string(d.fd) + " from" + from + "\n");
}

/// Ends the selection and calls the stop callback, which may close the descriptor: later reports of
/// epoll have an old generation.
int stop(Descriptor& d, Resource& resource) {
  std::unique_ptr<FormerUser> former;
  {
    std::lock_guard lock(d.lock);
    former = end_use(d);
  }
  CallbackEnv env(resource.type->owner);
  if (resource.type->stop) resource.type->stop(&env, resource.object(), d.fd, 1);
  return ERL_NIF_SELECT_STOP_CALLED;
}

int cancel(Descriptor& d, int mode, const Resource& resource) {
  Dropped dropped;
  std::lock_guard lock(d.lock);
  Selection* const s = selection_of(d, resource);
  if (!s) return 0;
  int result = 0;
  for (int i = 0; i < kCount; ++i)
    if (mode & kDirections[i].mode && dropped.add(take_message(s->waiting[i])))
      result |= kDirections[i].cancelled;
  s->watch();
  return result;
}

/// The messages of the directions that are ready. They are sent without the lock.
class Ready {
 public:
  /// Takes the messages of the directions that these events make ready.
  void take(Selection& s, std::uint32_t events) {
    for (int i = 0; i < kCount; ++i)
      if (s.waiting[i].message && events & kDirections[i].comes)
        taken_[n_++] = {s.waiting[i].pid, take_message(s.waiting[i])};
  }
  void send() {
    for (int i = 0; i < n_; ++i) send_from_vm(taken_[i].pid, taken_[i].message);
  }

 private:
  Waiting taken_[kCount];
  int n_ = 0;
};

void Selection::ready(std::uint32_t events, std::unique_lock<SpinLock>& lock) {
  Ready ready;
  ready.take(*this, events);
  watch();
  lock.unlock();
  ready.send();
}

}  // namespace

int select_for_resource(int fd, int mode, Resource& resource, Term pid, Term message) {
  Descriptor* const d = descriptors.at(fd);
  if (!d) return kInvalidEvent;
  take_from_others(*d, resource);
  if (mode & ERL_NIF_SELECT_STOP) return stop(*d, resource);
  if (mode & ERL_NIF_SELECT_CANCEL) return cancel(*d, mode, resource);
  Fragment* messages[kCount] = {};
  for (int i = 0; i < kCount; ++i)
    if (mode & kDirections[i].mode) messages[i] = message_for(kDirections[i], mode, resource, message);
  Dropped dropped;
  std::unique_ptr<FormerUser> former, failed;
  Ready ready;
  int error;
  {
    std::lock_guard lock(d->lock);
    Selection* s = selection_of(*d, resource);
    const bool is_new = !s;
    if (is_new) former = begin_use(*d, *(s = new Selection(*d, resource)));
    for (int i = 0; i < kCount; ++i) {
      if (!messages[i]) continue;
      dropped.add(take_message(s->waiting[i]));
      s->waiting[i] = {pid, messages[i]};
    }
    error = s->watch();
    if (error == EPERM) {  // epoll cannot wait for it, as for a regular file: always ready
      ready.take(*s, EPOLLIN | EPOLLOUT);
      error = 0;
    } else if (error) {
      for (int i = 0; i < kCount; ++i)
        if (messages[i]) dropped.add(take_message(s->waiting[i]));
      if (is_new) failed = end_use(*d);
    }
  }
  if (error) return INT32_MIN | (error == EBADF ? ERL_NIF_SELECT_INVALID_EVENT : ERL_NIF_SELECT_FAILED);
  ProcessPointers guard;
  ready.send();
  return 0;
}

SelectedByNative selected_by_native() {
  SelectedByNative all;
  descriptors.for_each([&](Descriptor& d) {
    std::lock_guard lock(d.lock);
    if (!d.user || !d.user->resource()) return;
    ++all.known;
    all.closed += fcntl(d.fd, F_GETFD) < 0;
  });
  return all;
}

}  // namespace vmrun
