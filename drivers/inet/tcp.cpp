// SPDX-License-Identifier: Apache-2.0
#include "drivers/inet/tcp.hpp"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <memory>
#include <utility>

namespace vmrun::inet {
namespace {

constexpr int kAcceptsAtOnce = 64;  // then others get their turn

bool would_block(int error) { return error == EAGAIN || error == EWOULDBLOCK; }

}  // namespace

std::optional<Answer> TcpSocket::request(unsigned number, Reader& in) {
  switch (number) {
    case kConnect: return connect(in);
    case kListen: return listen(in);
    case kAccept: return accept(in);
    case kShutdown: return shutdown(in);
    case kReceive: return receive(in);
    case kUnreceive: return unreceive(in);
    case kSendFile: return send_file(in);
  }
  return {};
}

// ---- Connecting ---------------------------------------------------------------------------------

/// timeout | address
Answer TcpSocket::connect(Reader& in) {
  if (!is_open()) return Answer::failed("exbadport");
  if (is_connected()) return Answer::failed(EISCONN);
  if (!connecting_.empty()) return Answer::failed(EINVAL);
  const std::uint32_t timeout = in.u32();
  Address to;
  if (const int error = read_address(in, system_family_, &to)) return Answer::failed(error);
  const Operation op{next_operation_id(), driver_caller(port_), deadline_after(timeout), {}};
  if (::connect(fd_, &to.any, to.size) == 0) {
    connected();
    answer_async(op);
  } else if (errno == EINPROGRESS) {
    connecting_.add(op);
    set_status(kStatusConnecting);
    select(ERL_DRV_WRITE, true);
    update_timer();
  } else {
    return Answer::failed(errno);
  }
  return Answer().u16(op.id);
}

void TcpSocket::connected() {
  set_status(kStatusConnected);
  was_connected_ = true;
  update_input();
}

// ---- Listening and accepting --------------------------------------------------------------------

/// backlog, 2 bytes
Answer TcpSocket::listen(Reader& in) {
  if (!is_open()) return Answer::failed("exbadport");
  const std::uint16_t backlog = in.u16();
  if (!in.done()) return Answer::failed(EINVAL);
  if (::listen(fd_, backlog) != 0) return Answer::failed(errno);
  set_status(kStatusListen);
  return {};
}

int TcpSocket::accept_one(int* error) {
  int fd;
  do fd = accept4(fd_, nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC);
  while (fd < 0 && (errno == ECONNABORTED || errno == EINTR));  // that connection is gone: take the next one
  *error = fd >= 0 || would_block(errno) ? 0 : errno;
  return fd;
}

/// Makes a port of its own for a connection; the process that called accept owns it.
void TcpSocket::give(const Operation& op, int fd) {
  auto fresh = std::make_unique<TcpSocket>();
  const auto data = reinterpret_cast<ErlDrvData>(static_cast<Socket*>(fresh.get()));
  const ErlDrvPort port = driver_create_port(port_, op.caller, const_cast<char*>("tcp_inet"), data);
  if (port == reinterpret_cast<ErlDrvPort>(std::intptr_t{-1})) {
    close(fd);
    return fail_async(op, words().system_limit);
  }
  TcpSocket& s = *fresh.release();  // owned by the port; no other thread runs it before this callback ends
  s.attach(port);
  s.fd_ = fd;
  s.system_family_ = system_family_;
  s.settings_ = settings_;
  s.settings_.active = Active::kPassive;
  ErlDrvSizeT low = ERL_DRV_BUSY_MSGQ_READ_ONLY, high = ERL_DRV_BUSY_MSGQ_READ_ONLY;
  erl_drv_busy_msgq_limits(port_, &low, &high);
  erl_drv_busy_msgq_limits(port, &low, &high);
  s.set_status(kStatusOpen | kStatusConnected);
  s.was_connected_ = true;
  Message m = async_message(op);
  m.atom(words().ok).port(port).tuple(2);
  finish_async(m, op);
}

/// timeout
Answer TcpSocket::accept(Reader& in) {
  const std::uint32_t timeout = in.u32();
  if (!in.done() || !is_listening()) return Answer::failed(EINVAL);
  Operation op{next_operation_id(), driver_caller(port_), kNever, {}};
  if (accepting_.empty()) {
    int error = 0;
    note_ready(ERL_DRV_READ, false);
    const int fd = accept_one(&error);
    if (fd >= 0) note_ready(ERL_DRV_READ, true);
    if (error) return Answer::failed(error);
    if (fd >= 0) {
      give(op, fd);
      return Answer().u16(op.id);
    }
  }
  if (timeout == 0) {
    fail_async(op, words().timeout);
    return Answer().u16(op.id);
  }
  op.deadline = deadline_after(timeout);
  ErlDrvMonitor monitor;
  if (driver_monitor_process(port_, op.caller, &monitor) == 0) op.monitor = monitor;
  accepting_.add(op);
  update_input();
  update_timer();
  return Answer().u16(op.id);
}

void TcpSocket::accept_waiting() {
  bool exhausted = false;
  for (int left = kAcceptsAtOnce; left && !accepting_.empty(); --left) {
    int error = 0;
    const int fd = accept_one(&error);
    if (fd < 0 && !error) {
      exhausted = true;
      break;
    }
    const Operation op = accepting_.take();
    if (op.monitor) driver_demonitor_process(port_, &*op.monitor);
    if (error) fail_async(op, errno_word(error));
    else give(op, fd);
  }
  if (!exhausted) note_ready(ERL_DRV_READ, true);
  update_timer();
}

void TcpSocket::process_gone(const ErlDrvMonitor& monitor) {
  if (accepting_.take_of(monitor)) update_timer();
}

// ---- Events -------------------------------------------------------------------------------------

void TcpSocket::readable() {
  if (!waits_for_input()) {
    note_ready(ERL_DRV_READ, true);
    return select(ERL_DRV_READ, false);  // delayed until now: see waits_for_input
  }
  if (is_listening()) return accept_waiting();
  static_cast<void>(read());
}

void TcpSocket::writable() {
  if (!connecting_.empty()) {
    select(ERL_DRV_WRITE, false);
    set_status(kStatusConnecting, false);
    const Operation op = connecting_.take();
    int error = 0;
    socklen_t size = sizeof error;
    getsockopt(fd_, SOL_SOCKET, SO_ERROR, &error, &size);
    if (error) {
      fail_async(op, errno_word(error));
    } else {
      connected();
      answer_async(op);
    }
    return update_timer();
  }
  if (lingers_) return linger_on();
  static_cast<void>(write_queue());
}

void TcpSocket::time_is_up() {
  timer_has_fired();
  const Deadline now = now_ms();
  if (const auto op = connecting_.take_overdue(now)) {
    close_descriptor();  // after a failed connect(2) a socket cannot be used
    fail_async(*op, words().timeout);
  }
  if (const auto op = receiving_.take_overdue(now)) fail_async(*op, words().timeout);
  while (const auto op = accepting_.take_overdue(now)) {
    if (op->monitor) driver_demonitor_process(port_, &*op->monitor);
    fail_async(*op, words().timeout);
  }
  if (send_deadline_ <= now) send_timed_out();
  update_timer();
}

/// A socket that becomes passive stays selected, because it is usually active again soon.
bool TcpSocket::waits_for_input() const {
  if (is_listening()) return !accepting_.empty();
  if (!is_connected()) return false;
  return !receiving_.empty() || (settings_.active != Active::kPassive && !closed_reported_);
}

std::uint32_t TcpSocket::more_status() const {
  return (accepting_.empty() ? 0u : kStatusAccepting) | (blocked_.empty() ? 0u : kStatusBusy);
}

Deadline TcpSocket::earliest_deadline() const {
  return std::min({connecting_.earliest(), accepting_.earliest(), receiving_.earliest(), send_deadline_});
}

Life TcpSocket::options_changed(const Settings& before) {
  if (settings_.active == Active::kPassive) return Life::kGoesOn;
  if (!is_connected()) {
    // The socket was closed while it was passive, so its owner was not told.
    if (is_open() || !was_connected_) return Life::kGoesOn;
    if (const ErlDrvTermData why = errno_word(ECONNRESET); !closed_reported_ && next_receive_ == why) {
      next_send_ = next_receive_ = words().closed;
      tell_owner(words().tcp_error, why);
    }
    tell_closed();
    return end_active(0);
  }
  const bool news = before.active == Active::kPassive || settings_.packet_type != before.packet_type;
  if (news && deliver() == Life::kOver) return Life::kOver;
  if (waits_for_input()) update_input();
  return Life::kGoesOn;
}

// ---- The end of a connection --------------------------------------------------------------------

/// how: 0 ends reading, 1 writing, 2 both
Answer TcpSocket::shutdown(Reader& in) {
  if (!is_connected()) return Answer::failed(ENOTCONN);
  const std::uint8_t how = in.u8();
  if (!in.done() || how > 2) return Answer::failed(EINVAL);
  static constexpr int kHow[] = {SHUT_RD, SHUT_WR, SHUT_RDWR};
  if (how != 0 && (driver_sizeq(port_) || file_)) {
    shutdown_pending_ = true;
    if (how == 1) return {};
    if (::shutdown(fd_, SHUT_RD) != 0) return Answer::failed(errno);
    return {};
  }
  if (::shutdown(fd_, kHow[how]) != 0) return Answer::failed(errno);
  output_ended_ |= how != 0;
  return {};
}

void TcpSocket::tell_closed() {
  if (!std::exchange(closed_reported_, true)) tell_owner(words().tcp_closed);
}

void TcpSocket::fail_operations(ErlDrvTermData reason) {
  if (file_) end_file(reason);
  for (Operations* all : {&connecting_, &receiving_, &accepting_})
    while (!all->empty()) {
      const Operation op = all->take();
      if (op.monitor) driver_demonitor_process(port_, &*op.monitor);
      fail_async(op, reason);
    }
}

Life TcpSocket::end_active(int error) {
  if (settings_.exit_on_close) {
    output_queue_is_empty();
    driver_exit(port_, error);
    return Life::kOver;
  }
  return Life::kGoesOn;
}

Life TcpSocket::peer_closed() {
  if (!blocked_.empty()) {
    drop_output();
    fail_blocked(words().closed);
  }
  input_.clear();
  next_send_ = words().closed;
  if (settings_.active != Active::kPassive) {
    tell_closed();
    select(ERL_DRV_READ, false);
    return end_active(0);
  }
  if (settings_.exit_on_close) close_descriptor();
  fail_operations(words().closed);
  update_timer();
  return Life::kGoesOn;
}

Life TcpSocket::receive_failed(int error) {
  if (error == ECONNRESET && !settings_.show_reset) return peer_closed();
  const ErlDrvTermData reason = errno_word(error);
  if (!blocked_.empty()) {
    drop_output();
    fail_blocked(reason);
  }
  input_.clear();
  if (settings_.active != Active::kPassive) {
    tell_owner(words().tcp_error, reason);
    tell_closed();
    if (end_active(error) == Life::kOver) return Life::kOver;
  }
  close_descriptor();
  fail_operations(reason);
  update_timer();
  return Life::kGoesOn;
}

/// sender: the one that gets the error now; nullptr: the next one.
Life TcpSocket::send_failed(int error, const Sender* sender) {
  // The system reports a reset once, and afterwards EPIPE, although this side has not ended its
  // output.
  if (error == EPIPE && !output_ended_) error = ECONNRESET;
  const bool show = error == ECONNRESET && settings_.show_reset;
  const ErlDrvTermData reason = show ? errno_word(error) : words().closed;
  drop_output();
  fail_blocked(reason);
  if (sender) reply_error(*sender, reason);
  else next_send_ = reason;
  if (settings_.active != Active::kPassive) {
    if (show) tell_owner(words().tcp_error, reason);
    tell_closed();
    if (end_active(0) == Life::kOver) return Life::kOver;
  }
  close_descriptor();
  input_.clear();
  if (receiving_.empty()) next_receive_ = reason;
  fail_operations(words().closed);
  update_timer();
  return Life::kGoesOn;
}

void TcpSocket::flush() {
  linger l{};
  socklen_t size = sizeof l;
  const bool discard =
      !is_connected() || file_ ||
      (getsockopt(fd_, SOL_SOCKET, SO_LINGER, &l, &size) == 0 && l.l_onoff && l.l_linger == 0);
  if (discard) driver_deq(port_, driver_sizeq(port_));
  else select(ERL_DRV_READ, false);
}

void TcpSocket::stop() {
  fail_blocked(words().closed);
  fail_operations(words().closed);
  Socket::stop();
}

}  // namespace vmrun::inet
