// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <condition_variable>
#include <cstring>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

#include "runtime/bif/iolist.hpp"
#include "runtime/bif/standard_input.hpp"
#include "runtime/bif/support.hpp"
#include "vm/base/epoch.hpp"
#include "vm/base/thread.hpp"
#include "vm/base/uninterrupted.hpp"
#include "vm/heap/copy.hpp"
#include "vm/message/deliver.hpp"
#include "vm/message/send.hpp"
#include "vm/process/process_state.hpp"
#include "vm/process/process_table.hpp"

/// Bytes from and to the operating system's file descriptors, for the I/O servers of the library
/// (contract: runtime/lib/README.md). A scheduler never waits for a descriptor. Bytes that cannot
/// be written at once, and all reading, are left to threads, one for each descriptor and direction.
namespace vmrun {
namespace {

Term posix_atom(int error) {
  struct Name {
    int error;
    const char* name;
  };
  static constexpr Name kNames[] = {
      {EBADF, "ebadf"},   {EPIPE, "epipe"},   {EIO, "eio"},     {ENOSPC, "enospc"}, {EINVAL, "einval"},
      {EACCES, "eacces"}, {EISDIR, "eisdir"}, {EFBIG, "efbig"}, {ENXIO, "enxio"},   {EPERM, "eperm"}};
  for (const Name& n : kNames)
    if (n.error == error) return intern_atom(n.name);
  return intern_atom("eio");
}

/// Work for one descriptor in one direction, done in order by a thread of its own that is made at
/// the first job and lives as long as the VM.
class Worker {
 public:
  struct Job {
    Term process;                     // gets the answer
    Word request_id;                  // writing: the reply signal's id
    std::vector<std::uint8_t> bytes;  // to write
    std::size_t most;                 // to read
  };
  Worker(int fd, bool writes) : fd_(fd), writes_(writes) {
    start_needed_thread(writes ? "std_writer" : "std_reader", [this] { run(); }).detach();
  }
  void add(Job job) {
    std::lock_guard guard(mutex_);
    jobs_.push_back(std::move(job));
    ready_.notify_one();
  }

 private:
  void run() {
    for (;;) {
      Job job;
      {
        std::unique_lock lock(mutex_);
        ready_.wait(lock, [this] { return !jobs_.empty(); });
        job = std::move(jobs_.front());
        jobs_.pop_front();
      }
      if (writes_) write_all(job);
      else read_some(job);
    }
  }

  void wait_for(short events) {
    pollfd p{fd_, events, 0};
    poll(&p, 1, -1);
  }

  void write_all(const Job& job) {
    int error = 0;
    for (std::size_t done = 0; done < job.bytes.size();) {
      const ssize_t n = write(fd_, job.bytes.data() + done, job.bytes.size() - done);
      if (n >= 0) {
        done += static_cast<std::size_t>(n);
      } else if (errno == EAGAIN) {
        wait_for(POLLOUT);
      } else if (errno != EINTR) {
        error = errno;
        break;
      }
    }
    Fragment* f = new_signal(SignalKind::kReply, 6);
    Term* hp = fragment_alloc(*f, 6);
    const Term result = error ? make_tuple(hp, atoms::error, posix_atom(error)) : atoms::ok;
    f->message = make_tuple(hp, Term::small(static_cast<SWord>(job.request_id)), result);
    EpochGuard guard;
    Process* p = process_table.find(job.process);
    if (!p || !push_signal(*p, f)) Fragment::destroy(f);
  }

  void read_some(const Job& job) {
    std::vector<std::uint8_t> buffer(job.most);
    ssize_t n;
    const auto read_once = [&] {
      return fd_ == STDIN_FILENO ? read_standard_input(buffer.data(), buffer.size())
                                 : read(fd_, buffer.data(), buffer.size());
    };
    while ((n = read_once()) < 0 && (errno == EINTR || errno == EAGAIN))
      if (errno == EAGAIN) wait_for(POLLIN);
    const int error = n < 0 ? errno : 0;
    Arena arena;
    Term what;
    if (n > 0)
      what = new_tuple(arena, intern_atom("data"), make_binary(arena, buffer.data(), static_cast<Word>(n)));
    else if (n == 0) what = intern_atom("eof");
    else what = new_tuple(arena, atoms::error, posix_atom(error));
    const Term message = new_tuple(arena, intern_atom("vmrun_io"), Term::small(fd_), what);
    EpochGuard guard;
    send_from_vm(job.process, message);
  }

  int fd_;
  bool writes_;
  std::mutex mutex_;
  std::condition_variable ready_;
  std::deque<Job> jobs_;
};

Worker& worker(int fd, bool writes) {
  static std::mutex mutex;
  static auto& workers = *new std::map<std::pair<int, bool>, Worker*>;
  std::lock_guard guard(mutex);
  Worker*& w = workers[{fd, writes}];
  if (!w) w = new Worker(fd, writes);
  return *w;
}

/// Writes what can be written without waiting. Files take everything; a pipe or terminal that poll
/// reports as writable takes PIPE_BUF bytes at once. Returns the number of bytes, or -1 with errno
/// set.
ssize_t write_now(int fd, const std::uint8_t* bytes, std::size_t count) {
  constexpr std::size_t kSure = 4096;
  struct stat st;
  const bool is_file = fstat(fd, &st) == 0 && S_ISREG(st.st_mode);
  std::size_t done = 0;
  while (done < count) {
    if (!is_file) {
      pollfd p{fd, POLLOUT, 0};
      if (uninterrupted([&] { return poll(&p, 1, 0); }) <= 0) break;
    }
    const std::size_t chunk = is_file ? count - done : std::min(kSure, count - done);
    const ssize_t n = write(fd, bytes + done, chunk);
    if (n < 0) {
      if (errno == EINTR) continue;
      if (errno == EAGAIN) break;
      return -1;
    }
    done += static_cast<std::size_t>(n);
  }
  return static_cast<ssize_t>(done);
}

bool read_fd(Term t, int* fd) {
  SWord n;
  if (!small_in_range(t, 0, 1 << 20, &n)) return false;
  *fd = static_cast<int>(n);
  return true;
}

}  // namespace

Term bif_vmrun_io_write_2(Process& p, const Term* a) {
  Extra& extra = extra_of(p);
  if (extra.request_id) {  // called again: the worker has it
    if (!extra.reply) return suspend_and_retry(p);
    Fragment* f = extra.reply;
    extra.reply = nullptr;
    extra.request_id = 0;
    const Term result = f->message.element(1);
    p.heap.adopt(f);
    return result;
  }
  int fd;
  if (!read_fd(a[0], &fd)) return raise_badarg(p);
  std::vector<std::uint8_t> bytes;
  const bool ok = walk_iodata(
      a[1], [&](std::uint8_t b) { bytes.push_back(b); },
      [&](Term bits) {
        if (!is_binary(bits)) return false;
        const BytesOf view(bits);
        bytes.insert(bytes.end(), view.data(), view.data() + view.size());
        return true;
      });
  if (!ok) return raise_badarg(p);
  bump_reductions(p, static_cast<SWord>(bytes.size() / 64));
  const ssize_t done = write_now(fd, bytes.data(), bytes.size());
  if (done < 0) {
    const Term error = posix_atom(errno);
    return new_tuple(p.heap, atoms::error, error);
  }
  if (static_cast<std::size_t>(done) == bytes.size()) return atoms::ok;
  bytes.erase(bytes.begin(), bytes.begin() + done);
  extra.request_id = ++extra.requests_made;
  worker(fd, true).add({p.id, extra.request_id, std::move(bytes), 0});
  return suspend_and_retry(p);
}

Term bif_vmrun_io_read_request_2(Process& p, const Term* a) {
  int fd;
  SWord most;
  if (!read_fd(a[0], &fd) || !small_in_range(a[1], 1, 1 << 24, &most)) return raise_badarg(p);
  worker(fd, false).add({p.id, 0, {}, static_cast<std::size_t>(most)});
  return atoms::ok;
}

Term bif_vmrun_io_geometry_1(Process& p, const Term* a) {
  int fd;
  if (!read_fd(a[0], &fd)) return raise_badarg(p);
  winsize size;
  if (!isatty(fd) || ioctl(fd, TIOCGWINSZ, &size) != 0 || size.ws_col == 0) return intern_atom("enotsup");
  return new_tuple(p.heap, Term::small(size.ws_col), Term::small(size.ws_row));
}

}  // namespace vmrun
