#include "vm/nif/select.hpp"

#include <fcntl.h>
#include <sys/epoll.h>

#include <cerrno>
#include <mutex>
#include <string>
#include <unordered_map>
#include <utility>

#include "vm/heap/copy.hpp"
#include "vm/message/send.hpp"
#include "vm/nif/guard.hpp"
#include "vm/process/report.hpp"
#include "vm/sched/poll.hpp"
#include "vm/term/atom.hpp"

// The messages are made when the descriptor is selected, so that the environment is not needed when
// it is ready. There is one message for one selection: epoll reports once (EPOLLONESHOT), and
// directions that still wait are registered again.

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

struct Selection {
  Word id = 0;                   // distinguishes this selection from former ones, whose reports may come late
  Resource* resource = nullptr;  // keeps one reference
  bool registered = false;
  Waiting waiting[kCount];
};

struct Selections {
  std::mutex mutex;
  std::unordered_map<int, Selection> of_fd;
  std::unordered_map<Word, int> fd_of_id;
  Word next_id = 1;
};
Selections& selections() {
  static Selections& s = *new Selections;
  return s;
}

std::uint32_t wanted_events(const Selection& s) {
  std::uint32_t events = 0;
  for (int i = 0; i < kCount; ++i)
    if (s.waiting[i].message) events |= kDirections[i].wants;
  return events;
}

/// Messages that are not needed any more. They are destroyed without the lock, since what they
/// refer to may have destructors.
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

Fragment* take_message(Waiting& w) {
  if (w.message) registered_descriptors.fetch_sub(1, std::memory_order_relaxed);
  return std::exchange(w.message, nullptr);
}
void set_message(Waiting& w, Term pid, Fragment* message) {
  w = {pid, message};
  registered_descriptors.fetch_add(1, std::memory_order_relaxed);
}

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

/// Registers the directions that wait. Returns an errno. The caller holds the lock.
int watch(Selection& s, int fd) {
  const std::uint32_t events = wanted_events(s);
  if (!events && !s.registered) return 0;
  const int error = poll_once(fd, s.id, events, s.registered);
  if (!error) s.registered = true;
  return error;
}

constexpr int kInvalidEvent = INT32_MIN | ERL_NIF_SELECT_INVALID_EVENT;

/// Takes a selection off the table, with its messages. The caller takes over the resource's
/// reference. The caller holds the lock.
Resource* remove_selection(std::unordered_map<int, Selection>::iterator it, Dropped* dropped) {
  Selection& s = it->second;
  if (s.registered) poll_forget(it->first);
  for (Waiting& w : s.waiting) dropped->add(take_message(w));
  Resource* resource = s.resource;
  selections().fd_of_id.erase(s.id);
  selections().of_fd.erase(it);
  return resource;
}

std::string type_name(const Resource& r) {
  return std::string(atom_text(r.type->module)) + ":" + std::string(atom_text(r.type->name));
}

/// Removes another resource's selection. Usually that resource has closed the descriptor without
/// ERL_NIF_SELECT_STOP, and the number is in use again.
void take_over(int fd, const Resource& thief) {
  Dropped dropped;
  Resource* robbed;
  {
    std::lock_guard lock(selections().mutex);
    auto it = selections().of_fd.find(fd);
    if (it == selections().of_fd.end() || it->second.resource == &thief) return;
    robbed = remove_selection(it, &dropped);
  }
  report_error("enif_select by resource " + type_name(thief) + " stealing control of fd=" +
               std::to_string(fd) + " from resource " + type_name(*robbed) + "\n");
  robbed->binary.release();
}

/// Stops waiting for it. Late reports find nothing, so it may be closed.
int stop(int fd, Resource& resource) {
  Dropped dropped;
  Resource* kept = nullptr;
  {
    std::lock_guard lock(selections().mutex);
    auto it = selections().of_fd.find(fd);
    if (it != selections().of_fd.end()) kept = remove_selection(it, &dropped);
  }
  CallbackEnv env(resource.type->owner);
  if (resource.type->stop) resource.type->stop(&env, resource.object(), fd, 1);
  if (kept) kept->binary.release();
  return ERL_NIF_SELECT_STOP_CALLED;
}

int cancel(int fd, int mode) {
  Dropped dropped;
  std::lock_guard lock(selections().mutex);
  auto it = selections().of_fd.find(fd);
  if (it == selections().of_fd.end()) return 0;
  int result = 0;
  for (int i = 0; i < kCount; ++i)
    if (mode & kDirections[i].mode && dropped.add(take_message(it->second.waiting[i])))
      result |= kDirections[i].cancelled;
  watch(it->second, fd);
  return result;
}

/// What is ready of a selection: its messages, which are sent without the lock.
struct Ready {
  Term pid;
  Fragment* message;
};

/// Takes the messages of the directions that these events make ready.
int take_ready(Selection& s, std::uint32_t events, Ready* ready) {
  int n = 0;
  for (int i = 0; i < kCount; ++i)
    if (s.waiting[i].message && events & kDirections[i].comes)
      ready[n++] = {s.waiting[i].pid, take_message(s.waiting[i])};
  return n;
}

}  // namespace

void native_descriptor_ready(Word id, std::uint32_t events) {
  Ready ready[kCount];
  int n = 0;
  {
    std::lock_guard lock(selections().mutex);
    auto it = selections().fd_of_id.find(id);
    if (it == selections().fd_of_id.end()) return;
    Selection& s = selections().of_fd.find(it->second)->second;
    n = take_ready(s, events, ready);
    if (wanted_events(s)) watch(s, it->second);
  }
  for (int i = 0; i < n; ++i) send_from_vm(ready[i].pid, ready[i].message);
}

int select_for_resource(int fd, int mode, Resource& resource, Term pid, Term message) {
  if (fd < 0) return kInvalidEvent;
  take_over(fd, resource);
  if (mode & ERL_NIF_SELECT_STOP) return stop(fd, resource);
  if (mode & ERL_NIF_SELECT_CANCEL) return cancel(fd, mode);
  Dropped dropped;
  Ready ready[kCount];
  int n = 0;
  {
    std::lock_guard lock(selections().mutex);
    auto [it, is_new] = selections().of_fd.try_emplace(fd);
    Selection& s = it->second;
    if (is_new) {
      s.id = selections().next_id++;
      s.resource = &resource;
      selections().fd_of_id.emplace(s.id, fd);
      resource.binary.retain();
    }
    for (int i = 0; i < kCount; ++i) {
      if (!(mode & kDirections[i].mode)) continue;
      dropped.add(take_message(s.waiting[i]));
      set_message(s.waiting[i], pid, message_for(kDirections[i], mode, resource, message));
    }
    const int error = watch(s, fd);
    if (error == EPERM) {  // epoll cannot wait for it, as for a regular file: always ready
      n = take_ready(s, EPOLLIN | EPOLLOUT, ready);
    } else if (error) {
      for (int i = 0; i < kCount; ++i)
        if (mode & kDirections[i].mode) dropped.add(take_message(s.waiting[i]));
      if (is_new) {
        selections().fd_of_id.erase(s.id);
        selections().of_fd.erase(it);
        resource.binary.release();  // not the last one: the caller has one
      }
      return INT32_MIN | (error == EBADF ? ERL_NIF_SELECT_INVALID_EVENT : ERL_NIF_SELECT_FAILED);
    }
  }
  ProcessPointers guard;
  for (int i = 0; i < n; ++i) send_from_vm(ready[i].pid, ready[i].message);
  return 0;
}

SelectedByNative selected_by_native() {
  std::lock_guard lock(selections().mutex);
  SelectedByNative all;
  for (const auto& [fd, selection] : selections().of_fd) {
    ++all.known;
    all.closed += fcntl(fd, F_GETFD) < 0;
  }
  return all;
}

}  // namespace vmrun
