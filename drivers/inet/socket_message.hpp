// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include "vm/include/erl_driver.h"

/// Messages from sockets to processes.
namespace vmrun::inet {

/// The atoms of messages.
struct Words {
  Words();
  ErlDrvTermData ok, error, closed, timeout, inet_async, inet_reply, empty_out_q, sendfile, system_limit;
  ErlDrvTermData tcp, tcp_closed, tcp_error, tcp_passive, udp, udp_error, udp_passive, http, ssl_tls;
  ErlDrvTermData local, unspec, undefined;
};
/// Made when the drivers are registered.
const Words& words();
/// Returns an errno as an atom: econnreset.
ErlDrvTermData errno_word(int error);

/// Builds a term in the notation of erl_drv_send_term: elements come before their container.
class Message {
 public:
  Message& atom(ErlDrvTermData a) { return put(ERL_DRV_ATOM, a); }
  Message& port(ErlDrvPort p) { return put(ERL_DRV_PORT, driver_mk_port(p)); }
  /// Adds a port that driver_mk_port has returned.
  Message& port(ErlDrvTermData p) { return put(ERL_DRV_PORT, p); }
  Message& number(std::int64_t n) { return put(ERL_DRV_INT, static_cast<ErlDrvTermData>(n)); }
  Message& nil() { return put(ERL_DRV_NIL); }
  /// Adds a copy of the bytes.
  Message& binary(std::string_view bytes) {
    return put(ERL_DRV_BUF2BINARY, word(bytes.data()), bytes.size());
  }
  /// Adds a part of a binary, which is shared if that saves memory or time.
  Message& binary(ErlDrvBinary* b, std::size_t offset, std::size_t size) {
    return put(ERL_DRV_BINARY, word(b), size, offset);
  }
  Message& list_of(std::string_view bytes) { return put(ERL_DRV_STRING, word(bytes.data()), bytes.size()); }
  /// Puts the bytes in front of the list (or other tail) that was added before.
  Message& in_front(std::string_view bytes) {
    return put(ERL_DRV_STRING_CONS, word(bytes.data()), bytes.size());
  }
  /// Adds a term in the external format; the bytes stay valid until the message is sent.
  Message& external(std::string_view bytes) {
    return put(ERL_DRV_EXT2TERM, word(bytes.data()), bytes.size());
  }
  Message& tuple(unsigned elements) { return put(ERL_DRV_TUPLE, elements); }
  /// Makes a proper list of the last `elements`.
  Message& list(unsigned elements) { return nil().put(ERL_DRV_LIST, elements + 1); }

  /// Sends the message to a process, dead or alive; also works for a port that is closing.
  void send(ErlDrvTermData to);

 private:
  static ErlDrvTermData word(const void* p) { return reinterpret_cast<ErlDrvTermData>(p); }
  template <class... T>
  Message& put(T... items) {
    ((items_[size_++] = static_cast<ErlDrvTermData>(items)), ...);
    return *this;
  }
  std::array<ErlDrvTermData, 64> items_;
  unsigned size_ = 0;
};

/// The process that sends bytes, and the reference by which it knows the answer: external format,
/// empty before OTP 26.
struct Sender {
  ErlDrvTermData process;
  std::string reference;
};

}  // namespace vmrun::inet
