// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>
#include <mutex>
#include <vector>

#include "drivers/socket/socket_terms.hpp"
#include "drivers/socket/wait_queue.hpp"

/// An open socket: a resource to which the references in programs lead. It belongs to a process,
/// and is closed when that process ends.
///
/// Reading and writing are independent, so each has a state, a lock, and wait queues. An operation
/// that concerns both takes both locks, that of reading first. No lock is held during a system call
/// that blocks.
namespace vmrun::sockets {

/// The state of a socket. The wait queues show whether a process accepts or connects.
enum State : unsigned {
  kBound = 1,
  kListening = 2,
  kConnected = 4,
  kSelected = 8,  // has been registered with the poller
  kClosing = 16,
  kClosed = 32,
};

/// Rows of `counters` in socket:info/1.
#define VMRUN_SOCKET_COUNTERS(X) \
  X(read_byte)                   \
  X(read_fails)                  \
  X(read_pkg)                    \
  X(read_pkg_max)                \
  X(read_tries)                  \
  X(read_waits)                  \
  X(write_byte)                  \
  X(write_fails)                 \
  X(write_pkg)                   \
  X(write_pkg_max)               \
  X(write_tries)                 \
  X(write_waits)                 \
  X(acc_success)                 \
  X(acc_fails)                   \
  X(acc_tries)                   \
  X(acc_waits)
/// Counters that are shown once a file has been sent.
#define VMRUN_SOCKET_FILE_COUNTERS(X) \
  X(sendfile)                         \
  X(sendfile_byte)                    \
  X(sendfile_fails)                   \
  X(sendfile_max)                     \
  X(sendfile_pkg)                     \
  X(sendfile_pkg_max)                 \
  X(sendfile_tries)                   \
  X(sendfile_waits)

#define VMRUN_DECLARE_COUNTER(name) std::uint64_t name = 0;
struct Counters {
  VMRUN_SOCKET_COUNTERS(VMRUN_DECLARE_COUNTER)
  VMRUN_SOCKET_FILE_COUNTERS(VMRUN_DECLARE_COUNTER)
};
#undef VMRUN_DECLARE_COUNTER

struct Socket {
  Socket(int descriptor, int of_domain, int of_type, int of_protocol)
      : fd(descriptor), domain(of_domain), type(of_type), protocol(of_protocol) {}
  ~Socket();

  int fd;  // -1: closed
  const int domain, type, protocol;
  int opened_from = -1;   // a descriptor of the program: open/2
  bool closes_fd = true;  // false: the descriptor belongs to the program

  std::mutex read_mutex, write_mutex;
  unsigned read_state = 0, write_state = 0;                                   // bits of State; each under its
                                                                              // mutex
  WaitQueue readers{ERL_NIF_SELECT_READ}, acceptors{ERL_NIF_SELECT_READ};     // read_mutex
  WaitQueue writers{ERL_NIF_SELECT_WRITE}, connectors{ERL_NIF_SELECT_WRITE};  // write_mutex
  Counters counters;  // read_*, acc_*: read_mutex, the others: write_mutex

  // Under both mutexes.
  ErlNifPid owner;
  ErlNifMonitor owner_monitor;
  ErlNifPid closer;  // between close and finalize_close
  bool owned = false, in_registry = false;
  ErlNifEnv* meta_env = nullptr;
  ERL_NIF_TERM meta = 0;  // atoms::undefined until it is set; in meta_env

  // Under read_mutex; write_control_bytes under write_mutex.
  std::size_t read_bytes = kDefaultReadBytes, read_control_bytes = kDefaultControlBytes,
              write_control_bytes = kDefaultControlBytes;
  unsigned reads_at_once = 0, reads_done = 0;  // rcvbuf {N, Size}
  // What a stream has given of a larger read: the next read begins with it. The release that is
  // asked for does so, or the program gets the part at once (settings.keeps_parts).
  std::vector<unsigned char> part;
  std::atomic<bool> debug{false}, counter_wrap{false};
  std::atomic<bool> select_read{false};  // since OTP 29: a read that has succeeded awaits the next bytes

  int file = -1;  // the file being sent, between two calls; under write_mutex

  bool can_read() const { return !(read_state & (kClosing | kClosed)); }
  bool can_write() const { return !(write_state & (kClosing | kClosed)); }

  static constexpr std::size_t kDefaultReadBytes = 8192, kDefaultControlBytes = 1024;
};

/// Returns the socket in the first argument of a call; nullptr when it is not one, and the call is
/// a badarg.
Socket* socket_of(ErlNifEnv* env, ERL_NIF_TERM reference);
ERL_NIF_TERM reference_to(ErlNifEnv* env, Socket& socket);
/// {'$socket', Reference}
ERL_NIF_TERM term_of(ErlNifEnv* env, Socket& socket);

/// Opens the resource type. load_info is the argument of load_nif in prim_socket:on_load/1. Returns
/// false on failure.
bool load_sockets(ErlNifEnv* env, ERL_NIF_TERM load_info);

struct Making {
  bool registers;  // socket_registry is told
  bool debugs;
  int opened_from = -1;
  bool closes_fd = true;
  const Socket* listener = nullptr;  // the socket that accepted it; gives the sizes of buffers
};
/// Makes a socket of an open non-blocking descriptor, owned by the caller. Returns {ok, Reference}.
/// Takes ownership of the descriptor, also on failure.
ERL_NIF_TERM make_socket(ErlNifEnv* env, int fd, int domain, int type, int protocol, const Making& how);

/// Tells socket_registry, once. The caller holds both mutexes.
void enter_in_registry(ErlNifEnv* env, Socket& socket);

/// From now on only close is possible. Waiting processes are told, and the poller drops the
/// descriptor. The caller holds both mutexes.
void begin_close(ErlNifEnv* env, Socket& socket);
/// The socket is closed from now on. Returns the descriptor that the caller must close without the
/// mutexes, because that may take time; or -1. The caller holds both mutexes.
[[nodiscard]] int end_close(Socket& socket);
/// close(2) that does not block. Where it would wait until all output is sent, or until the linger
/// time is over, the system continues to send in the background. -1 is allowed.
void close_at_once(int fd);

/// Settings of socket:info/0, socket:debug/1 and related functions.
struct Settings {
  std::atomic<bool> debug{false}, socket_debug{false}, use_registry{true}, counter_wrap{false};
  // What prim_socket expects, which differs by its release.
  // Since OTP 29: levels of options have names and numbers, and the type of service is a map.
  std::atomic<bool> names_levels{false};
  std::atomic<bool> times_out{false};      // since OTP 27: a read that must not wait answers `timeout`
  std::atomic<bool> names_backend{false};  // since OTP 27, in socket:info/0
  std::atomic<bool> keeps_parts{false};    // OTP 27: see Socket::part
};
extern Settings settings;

/// Numbers of open sockets by kind, as socket:info/0 names them.
ERL_NIF_TERM open_sockets(ErlNifEnv* env);

}  // namespace vmrun::sockets
