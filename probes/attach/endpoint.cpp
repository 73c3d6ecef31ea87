// SPDX-License-Identifier: Apache-2.0
#include "probes/attach/endpoint.hpp"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <charconv>
#include <cinttypes>
#include <condition_variable>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <functional>
#include <mutex>
#include <new>
#include <semaphore>
#include <string>
#include <utility>
#include <vector>

#include <fcntl.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "probes/attach/consumer_connection.hpp"
#include "probes/attach/firing.hpp"
#include "probes/engine/attach_protocol.hpp"
#include "vm/base/clock.hpp"
#include "vm/base/thread.hpp"

namespace vmrun::attach {
namespace {

constexpr int kLookEveryMs = 10;          // while scripts run: for new threads and exits
constexpr int kLookAtClocksEveryMs = 20;  // where only clocks fire; a thread keeps 32 samples
constexpr int kFirstWithinMs = 5000;      // the endpoint closes again when nobody connects
constexpr int kOthersWithinMs = 200;      // after a connection
constexpr int kLastMomentMs = 2000;       // for vmtrace, once the machine ends
constexpr std::size_t kMostConnections = 64;
constexpr int kBacklog = 16;  // connections that wait to be accepted

std::mutex mutex;
std::condition_variable changed;
bool is_open = false;  // the tracing thread runs, or is about to
// Whether the signal has come since the last connection. It is reset without the lock, because a
// wrong value only costs a moment.
std::atomic<bool> is_asked{false};
bool has_gone = false;  // the connection of start_under_trace runs its script, or is gone
std::atomic<bool> machine_ends{false};
int wake = -1;  // written to when the machine ends, and when there is a job
std::vector<std::function<void()>> jobs;
std::vector<std::shared_ptr<Insider>> insiders;  // only the tracing thread uses it

std::uint64_t in_ms(int ms) { return monotonic_ns() + static_cast<std::uint64_t>(ms) * 1'000'000; }

/// A socket that only this user and root may connect to, and that has no name which another user
/// could take. It is bound under a random name, which is removed at once; a descriptor of the file
/// (O_PATH) is left. vmtrace finds this descriptor among those of the process and connects to
/// /proc/PID/fd/N. The kernel lets the same user and root look there (PTRACE_MODE_READ, as for
/// /proc/PID/root). So nothing stays in the file system when the process is killed, and mount,
/// network and user namespaces are no obstacle.
class Listener {
 public:
  Listener() {
    descriptor_ = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (descriptor_ < 0) return;
    (void)fchmod(descriptor_, 0600);  // the file's mode from its first moment on
    for (const char* folder : kFolders)
      if (bind_in(folder)) break;
    if (place_ >= 0) (void)listen(descriptor_, kBacklog);
  }
  ~Listener() {
    hide();
    if (descriptor_ >= 0) close(descriptor_);
  }
  Listener(const Listener&) = delete;

  bool listens() const { return place_ >= 0; }
  /// Hides the socket, so that no process can find it any more.
  void hide() {
    if (place_ >= 0) close(std::exchange(place_, -1));
  }
  int descriptor() const { return descriptor_; }
  /// Accepts the next connection of this user or root. Returns -1 with errno when there is none.
  int accept_one() const {
    for (;;) {
      const int fd = accept4(descriptor_, nullptr, nullptr, SOCK_CLOEXEC);
      if (fd < 0) return -1;
      ucred peer{};
      socklen_t size = sizeof peer;
      if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0 &&
          (peer.uid == geteuid() || peer.uid == 0))
        return fd;
      close(fd);
    }
  }

 private:
  /// The first folder in which we may write is used.
  static constexpr const char* kFolders[] = {"/tmp", "/dev/shm", "/var/tmp"};

  /// bind fails when the name exists already, even as a link, so the name is always new.
  bool bind_in(const char* folder) {
    std::uint64_t random[2];
    if (getrandom(random, sizeof random, 0) != sizeof random) return false;
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    std::snprintf(address.sun_path, sizeof address.sun_path, "%s/%s%016" PRIx64 "%016" PRIx64, folder,
                  d::kEndpointName, random[0], random[1]);
    if (bind(descriptor_, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) return false;
    place_ = open(address.sun_path, O_PATH | O_NOFOLLOW | O_CLOEXEC);
    struct stat file {};
    // In a folder where others may rename our file, this can be another file.
    if (place_ >= 0 && (fstat(place_, &file) != 0 || !S_ISSOCK(file.st_mode) || file.st_uid != geteuid()))
      hide();
    (void)unlink(address.sun_path);
    return true;  // bound, whether it can be found or not
  }

  int descriptor_ = -1;
  int place_ = -1;  // descriptor of its file
};

using Connections = std::vector<std::unique_ptr<Connection>>;

/// Returns how long to wait: until the first thing is due.
int timeout_ms(const std::vector<TracingSession*>& running) {
  if (running.empty()) return -1;
  const auto waits_for_clocks = [](const TracingSession* s) { return s->waits_for_clocks(); };
  std::uint64_t wait_ms =
      std::ranges::all_of(running, waits_for_clocks) ? kLookAtClocksEveryMs : kLookEveryMs;
  const std::uint64_t now = monotonic_ns();
  for (TracingSession* s : running)
    if (const std::uint64_t next = s->next_tick())
      wait_ms = std::min(wait_ms, next > now ? (next - now + 999'999) / 1'000'000 : 0);
  return static_cast<int>(wait_ms);
}

void run_jobs() {
  std::vector<std::function<void()>> mine;
  {
    std::lock_guard guard(mutex);
    mine.swap(jobs);
  }
  for (const auto& job : mine) job();
}

class TracingThread {
 public:
  TracingThread(int first, bool is_waited_for) : is_waited_for_(is_waited_for) {
    if (first >= 0) all_.push_back(std::make_unique<Connection>(first));
  }

  void run() {
    for (;;) {
      serve();
      if (!ends_ && (!all_.empty() || !insiders.empty() || monotonic_ns() <= listens_until_ns_)) continue;
      if (ends_ && !all_.empty() && monotonic_ns() <= end_ns_) continue;
      std::lock_guard guard(mutex);
      // The lock is held. A request that comes later starts a new tracing thread, which does not
      // find our socket.
      if (!ends_ && (!jobs.empty() || somebody_came_last())) continue;
      all_.clear();
      listener_.reset();
      if (!machine_ends) close(std::exchange(wake, -1));
      is_asked = is_open = false;
      has_gone = true;
      changed.notify_all();
      return;
    }
  }

 private:
  void serve() {
    look_whether_to_listen();
    std::vector<pollfd> wait{{wake, POLLIN, 0}, {listener_ ? listener_->descriptor() : -1, POLLIN, 0}};
    for (const auto& c : all_)
      wait.push_back({c->descriptor(), static_cast<short>(POLLIN | (c->wants_to_send() ? POLLOUT : 0)), 0});
    int timeout = ends_ ? kLookEveryMs : timeout_ms(running());
    if (listener_ || (all_.empty() && insiders.empty())) {
      const std::uint64_t now = monotonic_ns();
      const int left =
          now < listens_until_ns_ ? static_cast<int>((listens_until_ns_ - now) / 1'000'000 + 1) : 0;
      timeout = timeout < 0 ? left : std::min(timeout, left);
    }
    (void)poll(wait.data(), wait.size(), timeout);
    for (const auto& i : std::vector(insiders)) i->tick();
    for (std::size_t i = all_.size(); i-- > 0;) {
      if (is_served(*all_[i], wait[i + 2].revents != 0)) continue;
      all_.erase(all_.begin() + static_cast<std::ptrdiff_t>(i));
      if (all_.empty()) listens_until_ns_ = 0;
    }
    if (wait[1].revents) accept();
    if (is_waited_for_) tell_who_waits();
    if (wait[0].revents) {
      std::uint64_t times;
      if (read(wake, &times, sizeof times) > 0 && machine_ends && !ends_) end_all();
      run_jobs();  // when the machine ends these are the last jobs: post takes no more by now
    }
    tell_ends(std::ranges::any_of(running(), [](const TracingSession* s) { return s->uses_self(); }));
  }

  std::vector<TracingSession*> running() const {
    std::vector<TracingSession*> some;
    for (const auto& i : insiders) some.push_back(&i->tracing());
    for (const auto& c : all_)
      if (TracingSession* s = c->tracing()) some.push_back(s);
    return some;
  }

  /// A peer that asks for more memory than there is loses its connection; the machine goes on.
  static bool is_served(Connection& connection, bool has_something) {
    try {
      connection.tick();
      return !has_something || connection.serve();
    } catch (const std::bad_alloc&) {
      return false;
    }
  }

  /// Whether a request has come meanwhile, or a connection was accepted when the socket was closed.
  bool somebody_came_last() {
    if (is_asked) {
      is_asked = false;
      listens_until_ns_ = in_ms(kFirstWithinMs);
      return true;
    }
    stop_listening();
    return !all_.empty();
  }

  /// The socket exists from a request until a moment after the last connection was accepted.
  void look_whether_to_listen() {
    if (is_asked.exchange(false)) listens_until_ns_ = in_ms(kFirstWithinMs);
    const bool wanted = !ends_ && monotonic_ns() < listens_until_ns_;
    if (!wanted) return stop_listening();
    if (listener_) return;
    listener_ = std::make_unique<Listener>();
    if (listener_->listens()) return;
    listener_.reset();
    listens_until_ns_ = 0;
  }
  void stop_listening() {
    if (!listener_) return;
    listener_->hide();
    accept();
    listener_.reset();
  }

  /// Accepts no more connections at once than wait at the socket, so that the others have their
  /// turn.
  void accept() {
    for (int i = 0; i < kBacklog; ++i) {
      const int fd = listener_->accept_one();
      if (fd < 0) {
        // No descriptor is left for them, and poll would report them again and again.
        if (errno == EMFILE || errno == ENFILE) listens_until_ns_ = 0;
        return;
      }
      listens_until_ns_ = std::min(listens_until_ns_, in_ms(kOthersWithinMs));
      if (all_.size() < kMostConnections) all_.push_back(std::make_unique<Connection>(fd));
      else refuse(fd);
    }
  }
  static void refuse(int fd) {
    const std::string why = "it is traced " + std::to_string(kMostConnections) + " times already";
    d::Channel(fd, d::Channel::Descriptors::kRefused).send(d::Message::kRefused, d::Packer().text(why).bytes);
  }

  /// Lets start_under_trace go on.
  void tell_who_waits() {
    if (!all_.empty() && !all_[0]->has_gone()) return;
    is_waited_for_ = false;
    std::lock_guard guard(mutex);
    has_gone = true;
    changed.notify_all();
  }

  void end_all() {
    ends_ = true;
    end_ns_ = in_ms(kLastMomentMs);
    listener_.reset();
    insiders.clear();
    for (const auto& c : all_) c->end();
  }

  Connections all_;
  std::unique_ptr<Listener> listener_;
  bool is_waited_for_, ends_ = false;
  std::uint64_t listens_until_ns_ = 0;
  std::uint64_t end_ns_ = 0;
};

// The caller holds the mutex, and the tracing thread runs.
void wake_up() {
  const std::uint64_t one = 1;
  if (write(wake, &one, sizeof one) < 0) {}  // the counter is full, so the thread is awake
}

// The caller holds the mutex.
void start_tracing(int first, bool is_waited_for) {
  if (wake < 0) wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  is_open = true;
  try {
    start_thread("trace", [first, is_waited_for] { TracingThread(first, is_waited_for).run(); }).detach();
  } catch (const std::exception& e) {
    std::fprintf(stderr, "vmrun: no thread for tracing: %s\n", e.what());
    if (first >= 0) close(first);
    is_open = false;
    has_gone = true;
  }
}

}  // namespace

int attach_signal() { return SIGRTMIN + d::kAttachSignal; }

void open_endpoint() {
  std::lock_guard guard(mutex);
  if (machine_ends) return;
  is_asked = true;
  if (is_open) wake_up();
  else start_tracing(-1, false);
}

bool post(std::function<void()> job) {
  std::lock_guard guard(mutex);
  if (machine_ends) return false;
  jobs.push_back(std::move(job));
  if (!is_open) start_tracing(-1, false);
  if (is_open) return wake_up(), true;
  jobs.pop_back();
  return false;
}

bool run(const std::function<void()>& job) {
  std::binary_semaphore done{0};
  if (!post([&] {
        job();
        done.release();
      }))
    return false;
  done.acquire();
  return true;
}

void look_after(std::shared_ptr<Insider> insider) { insiders.push_back(std::move(insider)); }
void leave_alone(const Insider& insider) {
  std::erase_if(insiders, [&](const auto& i) { return i.get() == &insider; });
}

void start_under_trace() {
  const char* text = std::getenv(d::kTraceVariable);
  if (!text) return;
  int descriptor = -1;
  const auto [end, error] = std::from_chars(text, text + std::strlen(text), descriptor);
  const bool is_number = error == std::errc() && *end == 0 && descriptor > 2;
  unsetenv(d::kTraceVariable);  // children must not see it
  if (!is_number || fcntl(descriptor, F_SETFD, FD_CLOEXEC) != 0) return;
  std::unique_lock lock(mutex);
  start_tracing(descriptor, true);
  changed.wait(lock, [] { return has_gone; });
}

void close_endpoint() {
  std::unique_lock lock(mutex);
  machine_ends = true;
  if (!is_open) return;
  wake_up();
  changed.wait_for(lock, std::chrono::milliseconds(kLastMomentMs + 1000), [] { return !is_open; });
}

}  // namespace vmrun::attach
