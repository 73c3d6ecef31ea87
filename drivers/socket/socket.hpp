#pragma once

#include <atomic>
#include <cstdint>
#include <mutex>

#include "drivers/socket/terms.hpp"
#include "drivers/socket/wait_queue.hpp"

/// An open socket: a resource, to which the references that programs hold lead. It belongs to a
/// process, and is closed when that one ends.
///
/// Reading and writing have nothing to do with each other, so each has a state, a lock, and a line
/// of processes that wait. What concerns both takes both locks, that of reading first. No lock is
/// held over a system call that blocks.
namespace vmrun::sockets {

/// What a socket has come to. That somebody accepts or connects is seen by the lines.
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
/// Those that are shown once a file has been sent.
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
  int opened_from = -1;   // a descriptor that the program had: open/2
  bool closes_fd = true;  // it is not the program's own

  std::mutex read_mutex, write_mutex;
  unsigned read_state = 0, write_state = 0;                                // of State; each under its mutex
  WaitQueue readers{ERL_NIF_SELECT_READ}, acceptors{ERL_NIF_SELECT_READ};  // read_mutex
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
  std::atomic<bool> debug{false}, counter_wrap{false};

  int file = -1;  // that is being sent, between two calls; write_mutex

  bool can_read() const { return !(read_state & (kClosing | kClosed)); }
  bool can_write() const { return !(write_state & (kClosing | kClosed)); }

  static constexpr std::size_t kDefaultReadBytes = 8192, kDefaultControlBytes = 1024;
};

/// For a call with the socket in its first argument. nullptr: it is none, and the call is a badarg.
Socket* socket_of(ErlNifEnv* env, ERL_NIF_TERM reference);
ERL_NIF_TERM reference_to(ErlNifEnv* env, Socket& socket);
/// {'$socket', Reference}
ERL_NIF_TERM term_of(ErlNifEnv* env, Socket& socket);

/// Opens the resource type. load_info is what prim_socket:on_load/1 gives to load_nif. False: no.
bool load_sockets(ErlNifEnv* env, ERL_NIF_TERM load_info);

struct Making {
  bool registers;  // socket_registry hears of it
  bool debugs;
  int opened_from = -1;
  bool closes_fd = true;
  const Socket* listener = nullptr;  // that has accepted it: sizes of buffers are the same
};
/// A socket with an open descriptor that does not block, owned by the caller. {ok, Reference}.
/// Takes the descriptor, also where that fails.
ERL_NIF_TERM make_socket(ErlNifEnv* env, int fd, int domain, int type, int protocol, const Making& how);

/// Tells socket_registry, once. With both mutexes.
void enter_in_registry(ErlNifEnv* env, Socket& socket);

/// Nothing but close is possible from now on: those that wait hear of it, the poller forgets the
/// descriptor. With both mutexes.
void begin_close(ErlNifEnv* env, Socket& socket);
/// It is closed from now on. What the caller has to close without the mutexes, for that may take
/// time; -1: nothing. With both mutexes.
[[nodiscard]] int end_close(Socket& socket);
/// close(2) that takes no time: where it would wait until everything is sent, or until a time that
/// was set for that has passed, the system sends on by itself. -1 is fine.
void close_at_once(int fd);

/// What socket:info/0 and socket:debug/1 and its kin speak of.
struct Settings {
  std::atomic<bool> debug{false}, socket_debug{false}, use_registry{true}, counter_wrap{false};
};
extern Settings settings;

/// Numbers of open sockets by kind, as socket:info/0 names them.
ERL_NIF_TERM open_sockets(ErlNifEnv* env);

}  // namespace vmrun::sockets
