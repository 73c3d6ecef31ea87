// SPDX-License-Identifier: Apache-2.0
#include "drivers/inet/socket_message.hpp"

#include "drivers/inet/bytes.hpp"
#include "vm/port/driver_api.hpp"

namespace vmrun::inet {
namespace {

ErlDrvTermData atom(const char* name) { return driver_mk_atom(const_cast<char*>(name)); }

}  // namespace

Words::Words()
    : ok(atom("ok")),
      error(atom("error")),
      closed(atom("closed")),
      timeout(atom("timeout")),
      inet_async(atom("inet_async")),
      inet_reply(atom("inet_reply")),
      empty_out_q(atom("empty_out_q")),
      sendfile(atom("sendfile")),
      system_limit(atom("system_limit")),
      tcp(atom("tcp")),
      tcp_closed(atom("tcp_closed")),
      tcp_error(atom("tcp_error")),
      tcp_passive(atom("tcp_passive")),
      udp(atom("udp")),
      udp_error(atom("udp_error")),
      udp_passive(atom("udp_passive")),
      http(atom("http")),
      ssl_tls(atom("ssl_tls")),
      local(atom("local")),
      unspec(atom("unspec")),
      undefined(atom("undefined")) {}

const Words& words() {
  static const Words all;
  return all;
}

ErlDrvTermData errno_word(int error) { return driver_mk_atom(erl_errno_id(error)); }

Answer Answer::failed(int error) { return failed(erl_errno_id(error)); }

void Message::send(ErlDrvTermData to) {
  send_driver_term(term_of(to), items_.data(), static_cast<int>(size_));
}

}  // namespace vmrun::inet
