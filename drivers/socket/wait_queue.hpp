#pragma once

#include <deque>
#include <optional>

#include "vm/include/erl_nif.h"

/// Processes that want to read from a socket, to write to it, to accept from it or to connect it.
/// One is served, the others stand in line; each process at most once. Who is served asks the
/// system, and when that has nothing, is told by a message {'$socket', Socket, select, Handle} that
/// it may ask again. When it has got what it wanted, or ends, it is the next one's turn, who gets
/// that message when there is something.
///
/// Locked by its owner, the socket.
namespace vmrun::sockets {

struct Socket;

/// A request that waits. The handle is in an environment of its own.
class Request {
 public:
  Request(const ErlNifPid& pid, ERL_NIF_TERM handle);
  ~Request();
  Request(Request&& other) noexcept;
  Request& operator=(Request&& other) noexcept;

  bool is_of(const ErlNifPid& pid) const;
  ErlNifPid pid;
  ErlNifMonitor monitor;
  bool is_monitored = false;
  ErlNifEnv* env;
  ERL_NIF_TERM handle;
};

class WaitQueue {
 public:
  explicit WaitQueue(int mode) : mode_(mode) {}

  /// Nothing: the caller may go ahead. Otherwise what it is answered: `select` when another one is
  /// served, and it stands in line now (`ok` if its handle is `zero`, then it does not wait); an
  /// exception when it stood there already.
  std::optional<ERL_NIF_TERM> ask(ErlNifEnv* env, Socket& socket, ERL_NIF_TERM handle);
  bool is_served(const ErlNifPid& pid) const { return served_ && served_->is_of(pid); }
  bool empty() const { return !served_; }
  std::size_t size() const { return waiting_.size() + (served_ ? 1 : 0); }

  /// The caller is the one who is served: it gets the message when the system has something. False:
  /// the poller refuses.
  [[nodiscard]] bool await(ErlNifEnv* env, Socket& socket, ERL_NIF_TERM handle);
  /// The caller, whose turn it is, is served, and gets no message: it goes on by itself.
  void serve(ErlNifEnv* env, Socket& socket, ERL_NIF_TERM handle);
  /// It has got what it wanted, or has given up: the next one's turn.
  void next(ErlNifEnv* env, Socket& socket);
  /// Nobody will get anything: all but the one that is served, who is the caller if it is anybody,
  /// get {'$socket', Socket, abort, {Handle, Reason}}.
  void fail(ErlNifEnv* env, Socket& socket, ERL_NIF_TERM reason);
  /// All get that message.
  void abort_all(ErlNifEnv* env, Socket& socket, ERL_NIF_TERM reason);
  /// The process has ended.
  void forget(ErlNifEnv* env, Socket& socket, const ErlNifPid& pid);

  enum class Cancelled { kYes, kMessageSent, kNotFound };
  Cancelled cancel(ErlNifEnv* env, Socket& socket, const ErlNifPid& pid, ERL_NIF_TERM handle);

 private:
  void clear_served(ErlNifEnv* env, Socket& socket);
  [[nodiscard]] bool select(ErlNifEnv* env, Socket& socket, const Request& request) const;

  int mode_;  // ERL_NIF_SELECT_READ or _WRITE
  std::optional<Request> served_;
  std::deque<Request> waiting_;
};

}  // namespace vmrun::sockets
