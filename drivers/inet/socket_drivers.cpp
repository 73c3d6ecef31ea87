// SPDX-License-Identifier: Apache-2.0
#include "drivers/inet/socket_drivers.hpp"

#include <unistd.h>

#include "drivers/inet/tcp.hpp"
#include "drivers/inet/udp.hpp"
#include "vm/port/driver.hpp"

namespace vmrun::inet {
namespace {

Socket& socket_of(ErlDrvData data) { return *reinterpret_cast<Socket*>(data); }

template <class Kind>
ErlDrvData start(ErlDrvPort port, char*) {
  Socket* s = new Kind;
  s->attach(port);
  return reinterpret_cast<ErlDrvData>(s);
}

void stop(ErlDrvData data) {
  socket_of(data).stop();
  delete &socket_of(data);
}

ErlDrvSSizeT control(ErlDrvData data, unsigned command, char* bytes, ErlDrvSizeT size, char** room,
                     ErlDrvSizeT room_size) {
  return socket_of(data).control(command, bytes, size, room, room_size);
}

template <class Kind>
ErlDrvEntry entry(const char* name) {
  ErlDrvEntry e = own_driver_entry(name);
  e.driver_flags |= ERL_DRV_FLAG_SOFT_BUSY;
  e.start = start<Kind>;
  e.stop = stop;
  e.control = control;
  e.outputv = [](ErlDrvData data, ErlIOVec* bytes) { socket_of(data).output(*bytes); };
  e.ready_input = [](ErlDrvData data, ErlDrvEvent) { socket_of(data).readable(); };
  e.ready_output = [](ErlDrvData data, ErlDrvEvent) { socket_of(data).writable(); };
  e.timeout = [](ErlDrvData data) { socket_of(data).time_is_up(); };
  e.flush = [](ErlDrvData data) { socket_of(data).flush(); };
  e.process_exit = [](ErlDrvData data, ErlDrvMonitor* monitor) { socket_of(data).process_gone(*monitor); };
  e.stop_select = [](ErlDrvEvent event, void*) {
    close(static_cast<int>(reinterpret_cast<std::intptr_t>(event)));
  };
  return e;
}

}  // namespace

void register_drivers() {
  words();
  static ErlDrvEntry tcp = entry<TcpSocket>("tcp_inet"), udp = entry<UdpSocket>("udp_inet");
  register_driver(&tcp);
  register_driver(&udp);
}

}  // namespace vmrun::inet
