// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <deque>
#include <optional>

#include "vm/include/erl_nif.h"

/// The processes that want to read from a socket, to write to it, to accept from it or to connect
/// it. One of them is served and the others wait, each at most once. The process that is served
/// asks the system; if the system is not ready, a message {'$socket', Socket, select, Handle} tells
/// the process when to ask again. When it is done, or ends, the next process is served and gets
/// that message once the system is ready.
///
/// Guarded by the lock of the socket that owns it.
namespace vmrun::sockets {

struct Socket;

/// A request that waits. The handle is in the request's own environment.
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

  /// Returns nothing if the caller may go ahead. Otherwise the caller's answer: `select` when
  /// another process is served and the caller waits now (`ok` if its handle is `zero`; it does not
  /// wait then), or an exception when the caller waited already.
  std::optional<ERL_NIF_TERM> ask(ErlNifEnv* env, Socket& socket, ERL_NIF_TERM handle);
  bool is_served(const ErlNifPid& pid) const { return served_ && served_->is_of(pid); }
  bool empty() const { return !served_; }
  std::size_t size() const { return waiting_.size() + (served_ ? 1 : 0); }

  /// The caller is served, and gets the message when the system is ready. Returns false if the
  /// poller refuses the descriptor.
  [[nodiscard]] bool await(ErlNifEnv* env, Socket& socket, ERL_NIF_TERM handle);
  /// The caller is served and goes on by itself, without a message.
  void serve(ErlNifEnv* env, Socket& socket, ERL_NIF_TERM handle);
  /// The process that was served is done or has given up; serves the next one.
  void next(ErlNifEnv* env, Socket& socket);
  /// Sends {'$socket', Socket, abort, {Handle, Reason}} to all processes except the one that is
  /// served, which is the caller if there is one.
  void fail(ErlNifEnv* env, Socket& socket, ERL_NIF_TERM reason);
  /// Sends that message to the process that is served, whose request is dropped.
  void abort_served(ErlNifEnv* env, Socket& socket, ERL_NIF_TERM reason);
  /// Sends that message to all.
  void abort_all(ErlNifEnv* env, Socket& socket, ERL_NIF_TERM reason);
  /// Removes a process that has ended.
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
