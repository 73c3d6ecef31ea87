#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "vm/include/erl_driver.h"

/// Messages of sockets to processes.
namespace vmrun::inet {

/// Atoms that messages are made of.
struct Words {
  Words();
  ErlDrvTermData ok, error, closed, timeout, inet_async, inet_reply, empty_out_q, sendfile, system_limit;
  ErlDrvTermData tcp, tcp_closed, tcp_error, tcp_passive, udp, udp_error, udp_passive, http, ssl_tls;
  ErlDrvTermData local, unspec, undefined;
};
/// Made when the drivers are registered.
const Words& words();
/// "econnreset" as an atom.
ErlDrvTermData errno_word(int error);

/// A term in the notation of erl_drv_send_term: elements come before what they are elements of.
class Message {
 public:
  Message& atom(ErlDrvTermData a) { return put(ERL_DRV_ATOM, a); }
  Message& port(ErlDrvPort p) { return put(ERL_DRV_PORT, driver_mk_port(p)); }
  /// As driver_mk_port has named it.
  Message& port(ErlDrvTermData p) { return put(ERL_DRV_PORT, p); }
  Message& number(std::int64_t n) { return put(ERL_DRV_INT, static_cast<ErlDrvTermData>(n)); }
  Message& nil() { return put(ERL_DRV_NIL); }
  /// Copied.
  Message& binary(std::string_view bytes) {
    return put(ERL_DRV_BUF2BINARY, word(bytes.data()), bytes.size());
  }
  /// Shared where that saves anything.
  Message& binary(ErlDrvBinary* b, std::size_t offset, std::size_t size) {
    return put(ERL_DRV_BINARY, word(b), size, offset);
  }
  Message& list_of(std::string_view bytes) { return put(ERL_DRV_STRING, word(bytes.data()), bytes.size()); }
  /// In front of the list, or other tail, before it.
  Message& in_front(std::string_view bytes) {
    return put(ERL_DRV_STRING_CONS, word(bytes.data()), bytes.size());
  }
  Message& tuple(unsigned elements) { return put(ERL_DRV_TUPLE, elements); }
  /// The last `elements`, nil behind them.
  Message& list(unsigned elements) { return nil().put(ERL_DRV_LIST, elements + 1); }

  /// To whoever it is, dead or alive; also of a port that is closing.
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

}  // namespace vmrun::inet
