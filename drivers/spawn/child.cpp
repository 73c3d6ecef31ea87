// SPDX-License-Identifier: Apache-2.0
#include "drivers/spawn/child.hpp"

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <mutex>
#include <optional>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "vm/base/affinity.hpp"
#include "vm/base/spawn_plan.hpp"
#include "vm/base/thread.hpp"
#include "vm/port/environment.hpp"

namespace vmrun {
namespace {

constexpr int kPolledMs = 100;
constexpr int kLowestDescriptor = 10;  // ours do not collide with a child's fixed numbers

struct Pipe {
  int read = -1, write = -1;
  int open() {
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) < 0) return errno;
    read = fcntl(ends[0], F_DUPFD_CLOEXEC, kLowestDescriptor);
    write = fcntl(ends[1], F_DUPFD_CLOEXEC, kLowestDescriptor);
    const int error = read < 0 || write < 0 ? errno : 0;
    ::close(ends[0]);
    ::close(ends[1]);
    return error;
  }
  static void close(int& end) {
    if (end >= 0) ::close(end);
    end = -1;
  }
  ~Pipe() {
    close(read);
    close(write);
  }
  int release(int& end) { return std::exchange(end, -1); }
};

/// The last entry for a name counts.
std::vector<std::string> child_environment(const PortOptions& options) {
  std::unordered_map<std::string_view, const std::optional<std::string>*> changes;
  for (const auto& [name, value] : options.env) changes[name] = &value;
  std::vector<std::string> entries = environment_entries();
  std::erase_if(entries, [&](std::string_view e) { return changes.contains(e.substr(0, e.find('='))); });
  for (const auto& [name, value] : options.env)
    if (value && changes[name] == &value) entries.push_back(name + "=" + *value);
  return entries;
}

std::vector<std::string> arguments(const PortOptions& options) {
  if (options.kind == PortOptions::Kind::kSpawn) return {"sh", "-c", "exec " + options.command};
  std::vector<std::string> result{options.arg0.value_or(options.command)};
  if (options.args) result.insert(result.end(), options.args->begin(), options.args->end());
  return result;
}

void plan_descriptors(SpawnPlan& plan, const PortOptions& options, const Pipe& to_child,
                      const Pipe& from_child) {
  const int input = options.use_stdio ? 0 : 3, output = options.use_stdio ? 1 : 4;
  if (!options.use_stdio || !options.out)
    posix_spawn_file_actions_addopen(&plan.actions, 0, "/dev/null", O_RDONLY, 0);
  if (options.out) posix_spawn_file_actions_adddup2(&plan.actions, to_child.read, input);
  if (options.in) posix_spawn_file_actions_adddup2(&plan.actions, from_child.write, output);
  if (options.in && options.use_stdio && options.stderr_to_stdout)
    posix_spawn_file_actions_adddup2(&plan.actions, 1, 2);
  // Descriptors 3 and 4 may be inherited ones of the machine, if the child does not get its own
  // under these numbers.
  if (!options.use_stdio && !options.out) posix_spawn_file_actions_addclose(&plan.actions, 3);
  if (!options.use_stdio && !options.in) posix_spawn_file_actions_addclose(&plan.actions, 4);
  posix_spawn_file_actions_addclosefrom_np(&plan.actions, options.use_stdio ? 3 : 5);
}

/// Returns why the program of spawn_executable cannot be run, as far as can be checked beforehand:
/// an errno, or 0.
int program_error(const PortOptions& options) {
  struct stat info;
  if (options.kind != PortOptions::Kind::kSpawnExecutable) return 0;
  return stat(options.command.c_str(), &info) < 0 || access(options.command.c_str(), X_OK) < 0 ? errno : 0;
}

/// Whether the machine has no room for a child, whatever it runs.
bool lacks_resources(int error) {
  return error == EAGAIN || error == ENOMEM || error == EMFILE || error == ENFILE;
}

/// Returns a command line whose exit status is the errno. It replaces a child whose directory or
/// program failed later, as with OTP: open_port has already succeeded by then.
std::vector<std::string> failing_command(const PortOptions& options, int error) {
  const std::string leave = "exit " + std::to_string(error);
  struct stat info;
  if (!options.cd || (stat(options.cd->c_str(), &info) == 0 && S_ISDIR(info.st_mode)))
    return {"sh", "-c", leave};
  return {"sh", "-c", "printf 'spawn: Could not cd to %s\\r\\n' \"$1\" >&2; " + leave, "sh", *options.cd};
}

/// Collects children that no port waits for, in a thread of its own, which starts with the first of
/// them.
class Collector {
 public:
  void add(int pid) {
    std::lock_guard guard(lock_);
    if (!started_) {
      started_ = true;
      // If no descriptors are left for these, all children are checked at intervals.
      poll_ = epoll_create1(EPOLL_CLOEXEC);
      wake_ = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
      epoll_event event{EPOLLIN, {.u64 = 0}};
      can_wait_ = epoll_ctl(poll_, EPOLL_CTL_ADD, wake_, &event) == 0;
      start_needed_thread("child_collector", [this] { run(); }).detach();
    }
    const int watch = open_child_watch(pid);
    epoll_event event{EPOLLIN,
                      {.u64 = static_cast<std::uint64_t>(watch) << 32 | static_cast<std::uint32_t>(pid)}};
    if (watch < 0 || !can_wait_ || epoll_ctl(poll_, EPOLL_CTL_ADD, watch, &event) < 0) {
      // There is no descriptor left to watch it, so it is checked at intervals.
      if (watch >= 0) ::close(watch);
      polled_.push_back(pid);
      eventfd_write(wake_, 1);
    }
  }

 private:
  void run() {
    for (;;) {
      epoll_event events[64];
      if (!can_wait_) usleep(kPolledMs * 1000);
      const int n = can_wait_ ? epoll_wait(poll_, events, 64, has_polled() ? kPolledMs : -1) : 0;
      for (int i = 0; i < n; ++i) {
        if (events[i].data.u64 == 0) {
          eventfd_t woken;
          eventfd_read(wake_, &woken);
          continue;
        }
        if (take_exit_status(static_cast<int>(events[i].data.u64 & 0xFFFFFFFF)) < 0) continue;
        // Removed before it is closed: a child that is just being started may hold the same file a
        // moment longer. Closing alone would leave it registered, and it would report again under a
        // number that may belong to another file by then.
        const int watch = static_cast<int>(events[i].data.u64 >> 32);
        epoll_ctl(poll_, EPOLL_CTL_DEL, watch, nullptr);
        ::close(watch);
      }
      std::lock_guard guard(lock_);
      std::erase_if(polled_, [](int pid) { return take_exit_status(pid) >= 0; });
    }
  }
  bool has_polled() {
    std::lock_guard guard(lock_);
    return !polled_.empty();
  }

  std::mutex lock_;
  bool started_ = false, can_wait_ = false;
  int poll_ = -1, wake_ = -1;
  std::vector<int> polled_;
};

}  // namespace

int start_child(const PortOptions& options, Child* child) {
  if (const int error = program_error(options)) return error;
  Pipe to_child, from_child;
  if (options.out)
    if (const int error = to_child.open()) return error;
  if (options.in)
    if (const int error = from_child.open()) return error;

  SpawnPlan plan;
  plan_signals(plan);
  if (options.cd && !options.cd->empty())
    posix_spawn_file_actions_addchdir_np(&plan.actions, options.cd->c_str());
  plan_descriptors(plan, options, to_child, from_child);

  const std::vector<std::string> texts = arguments(options), entries = child_environment(options);
  const char* program = options.kind == PortOptions::Kind::kSpawn ? "/bin/sh" : options.command.c_str();
  pid_t pid;
  const WithoutBinding any_processor;
  if (const int error = posix_spawn(&pid, program, &plan.actions, &plan.attributes, pointers(texts).data(),
                                    pointers(entries).data())) {
    if (lacks_resources(error)) return error;
    SpawnPlan stand_in;  // in the machine's own directory
    plan_signals(stand_in);
    plan_descriptors(stand_in, options, to_child, from_child);
    const std::vector<std::string> failing = failing_command(options, error);
    char* no_environment[] = {nullptr};  // the kernel may have refused the given one
    if (posix_spawn(&pid, "/bin/sh", &stand_in.actions, &stand_in.attributes, pointers(failing).data(),
                    no_environment))
      return error;
  }
  child->pid = pid;
  if (options.out) child->to_child = to_child.release(to_child.write);
  if (options.out) child->input_of_child = to_child.release(to_child.read);
  if (options.in) child->from_child = from_child.release(from_child.read);
  return 0;
}

void collect_when_dead(int pid) {
  static Collector& collector = *new Collector;  // its thread lives as long as the program
  collector.add(pid);
}

int open_child_watch(int pid) { return static_cast<int>(syscall(SYS_pidfd_open, pid, 0)); }

int take_exit_status(int pid) {
  int status;
  pid_t taken;
  while ((taken = waitpid(pid, &status, WNOHANG)) < 0 && errno == EINTR) {}
  if (taken == 0) return -1;
  if (taken < 0) return 0;  // another thread has taken it
  return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

}  // namespace vmrun
