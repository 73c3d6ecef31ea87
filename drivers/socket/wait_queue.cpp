// SPDX-License-Identifier: Apache-2.0
#include "drivers/socket/wait_queue.hpp"

#include <algorithm>
#include <utility>

#include "drivers/socket/socket.hpp"

namespace vmrun::sockets {

Request::Request(const ErlNifPid& of, ERL_NIF_TERM its_handle)
    : pid(of), env(enif_alloc_env()), handle(enif_make_copy(env, its_handle)) {}
Request::~Request() {
  if (env) enif_free_env(env);
}
Request::Request(Request&& other) noexcept
    : pid(other.pid),
      monitor(other.monitor),
      is_monitored(other.is_monitored),
      env(std::exchange(other.env, nullptr)),
      handle(other.handle) {}
Request& Request::operator=(Request&& other) noexcept {
  std::swap(pid, other.pid);
  std::swap(monitor, other.monitor);
  std::swap(is_monitored, other.is_monitored);
  std::swap(env, other.env);
  std::swap(handle, other.handle);
  return *this;
}

bool Request::is_of(const ErlNifPid& other) const { return enif_compare_pids(&pid, &other) == 0; }

namespace {

/// Returns the caller's request. A caller that has ended meanwhile is not monitored, which does no
/// harm.
Request request_of_caller(ErlNifEnv* env, Socket& socket, ERL_NIF_TERM handle) {
  ErlNifPid self;
  enif_self(env, &self);
  Request request(self, handle);
  request.is_monitored = enif_monitor_process(env, &socket, &self, &request.monitor) == 0;
  return request;
}

void stop_watching(ErlNifEnv* env, Socket& socket, Request& request) {
  if (std::exchange(request.is_monitored, false)) enif_demonitor_process(env, &socket, &request.monitor);
}

/// Sends {'$socket', Socket, Tag, Info} to the process of the request.
void send(ErlNifEnv* env, Socket& socket, const Request& to, ERL_NIF_TERM tag, ERL_NIF_TERM reason) {
  ErlNifEnv* made = enif_alloc_env();
  const ERL_NIF_TERM info = tuple(made, enif_make_copy(made, to.handle), enif_make_copy(made, reason));
  enif_send(env, &to.pid, made, tuple(made, atoms::socket_tag, term_of(made, socket), tag, info));
  enif_free_env(made);
}

void abort(ErlNifEnv* env, Socket& socket, Request& request, ERL_NIF_TERM reason) {
  stop_watching(env, socket, request);
  send(env, socket, request, atoms::abort, reason);
}

}  // namespace

std::optional<ERL_NIF_TERM> WaitQueue::ask(ErlNifEnv* env, Socket& socket, ERL_NIF_TERM handle) {
  if (!served_) return {};
  ErlNifPid self;
  enif_self(env, &self);
  if (served_->is_of(self)) return {};
  if (std::any_of(waiting_.begin(), waiting_.end(), [&](const Request& r) { return r.is_of(self); }))
    return raise_invalid(env, atoms::state);
  if (handle == atoms::zero) return atoms::ok;
  waiting_.push_back(request_of_caller(env, socket, handle));
  return atoms::select;
}

bool WaitQueue::select(ErlNifEnv* env, Socket& socket, const Request& request) const {
  ErlNifEnv* made = enif_alloc_env();
  const ERL_NIF_TERM message = tuple(made, atoms::socket_tag, term_of(made, socket), atoms::select,
                                     enif_make_copy(made, request.handle));
  const int flags = mode_ | ERL_NIF_SELECT_CUSTOM_MSG;
  const int result = enif_select_x(env, socket.fd, static_cast<ErlNifSelectFlags>(flags), &socket,
                                   &request.pid, message, made);
  enif_free_env(made);
  (mode_ == ERL_NIF_SELECT_READ ? socket.read_state : socket.write_state) |= kSelected;
  return result >= 0;
}

void WaitQueue::serve(ErlNifEnv* env, Socket& socket, ERL_NIF_TERM handle) {
  if (served_) clear_served(env, socket);  // the same process, with a new handle
  served_ = request_of_caller(env, socket, handle);
}

bool WaitQueue::await(ErlNifEnv* env, Socket& socket, ERL_NIF_TERM handle) {
  serve(env, socket, handle);
  if (select(env, socket, *served_)) return true;
  clear_served(env, socket);
  return false;
}

void WaitQueue::clear_served(ErlNifEnv* env, Socket& socket) {
  stop_watching(env, socket, *served_);
  served_.reset();
}

void WaitQueue::next(ErlNifEnv* env, Socket& socket) {
  if (served_) clear_served(env, socket);
  while (!waiting_.empty()) {
    Request request = std::move(waiting_.front());
    waiting_.pop_front();
    if (select(env, socket, request)) {
      served_ = std::move(request);
      return;
    }
    abort(env, socket, request, atom(env, "select_failed"));
  }
}

void WaitQueue::fail(ErlNifEnv* env, Socket& socket, ERL_NIF_TERM reason) {
  if (served_) clear_served(env, socket);
  for (Request& request : std::exchange(waiting_, {})) abort(env, socket, request, reason);
}

void WaitQueue::abort_served(ErlNifEnv* env, Socket& socket, ERL_NIF_TERM reason) {
  if (served_) abort(env, socket, *served_, reason);
  served_.reset();
}

void WaitQueue::abort_all(ErlNifEnv* env, Socket& socket, ERL_NIF_TERM reason) {
  abort_served(env, socket, reason);
  fail(env, socket, reason);
}

void WaitQueue::forget(ErlNifEnv* env, Socket& socket, const ErlNifPid& pid) {
  std::erase_if(waiting_, [&](Request& request) {
    if (!request.is_of(pid)) return false;
    stop_watching(env, socket, request);
    return true;
  });
  if (served_ && served_->is_of(pid)) {
    enif_select_x(env, socket.fd, static_cast<ErlNifSelectFlags>(mode_ | ERL_NIF_SELECT_CANCEL), &socket,
                  nullptr, 0, nullptr);
    next(env, socket);
  }
}

WaitQueue::Cancelled WaitQueue::cancel(ErlNifEnv* env, Socket& socket, const ErlNifPid& pid,
                                       ERL_NIF_TERM handle) {
  const auto is_it = [&](const Request& request) {
    return request.is_of(pid) && enif_is_identical(request.handle, handle);
  };
  if (served_ && is_it(*served_)) {
    const int result =
        enif_select_x(env, socket.fd, static_cast<ErlNifSelectFlags>(mode_ | ERL_NIF_SELECT_CANCEL), &socket,
                      nullptr, 0, nullptr);
    const int taken_back =
        mode_ == ERL_NIF_SELECT_READ ? ERL_NIF_SELECT_READ_CANCELLED : ERL_NIF_SELECT_WRITE_CANCELLED;
    next(env, socket);
    return result >= 0 && result & taken_back ? Cancelled::kYes : Cancelled::kMessageSent;
  }
  const auto found = std::find_if(waiting_.begin(), waiting_.end(), is_it);
  if (found == waiting_.end()) return Cancelled::kNotFound;
  stop_watching(env, socket, *found);
  waiting_.erase(found);
  return Cancelled::kYes;
}

}  // namespace vmrun::sockets
