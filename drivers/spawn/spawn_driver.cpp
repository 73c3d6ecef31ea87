// SPDX-License-Identifier: Apache-2.0
#include "drivers/spawn/spawn_driver.hpp"

#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <utility>

#include "drivers/spawn/child.hpp"
#include "drivers/stream/byte_stream.hpp"

/// One instance is one child with up to two pipes and, when its exit status is wanted, a descriptor
/// that becomes readable at its end. Without that option the end of its output ends the port. With
/// it the port ends when both the end of output and a status have arrived (a child of the child may
/// hold the pipe longer).
///
/// open_port returns when the child runs; a short one may have printed and ended before its owner
/// writes. With OTP it hardly has begun by then. So that such a write does not end the port before
/// what has been printed is read, the end that the child reads from stays open here until the first
/// write, or until something is heard of the child.
namespace vmrun {
namespace {

struct SpawnPort {
  ErlDrvPort port;
  ByteStream stream;
  int pid;
  int watch = -1;           // -1: the collector has the child, or it is dead
  int input_of_child = -1;  // -1: not held open
  bool wants_status = false;
  bool input_ended = false;
  int status = -1;  // once it is dead
};

ErlDrvEvent event_of(int fd) { return reinterpret_cast<ErlDrvEvent>(static_cast<std::intptr_t>(fd)); }
int descriptor(ErlDrvEvent event) { return static_cast<int>(reinterpret_cast<std::intptr_t>(event)); }
SpawnPort* instance(ErlDrvData data) { return reinterpret_cast<SpawnPort*>(data); }

void let_input_go(SpawnPort& s) {
  if (s.input_of_child >= 0) close(std::exchange(s.input_of_child, -1));
}

ErlDrvData start(ErlDrvPort port, char*, const PortOptions& options) {
  Child child;
  if (const int error = start_child(options, &child)) {
    errno = error;
    return ERL_DRV_ERROR_ERRNO;
  }
  auto* s = new SpawnPort{port, {}, child.pid};
  s->wants_status = options.exit_status;
  if (s->wants_status) s->watch = open_child_watch(child.pid);
  if (s->watch >= 0) driver_select(port, event_of(s->watch), ERL_DRV_READ | ERL_DRV_USE, 1);
  else collect_when_dead(child.pid);
  ByteStream::Options stream;
  stream.in = child.from_child;
  stream.out = child.to_child;
  stream.packet_bytes = options.packet_bytes;
  stream.queue_low = options.queue_low;
  stream.queue_high = options.queue_high;
  s->stream.start(port, stream);
  s->input_ended = child.from_child < 0;
  s->input_of_child = child.input_of_child;
  if (s->input_ended) let_input_go(*s);  // nothing is printed that could be lost
  erl_drv_set_os_pid(port, child.pid);
  return reinterpret_cast<ErlDrvData>(s);
}

void stop(ErlDrvData data) {
  SpawnPort* s = instance(data);
  let_input_go(*s);
  s->stream.stop();
  if (s->watch >= 0) {
    driver_select(s->port, event_of(s->watch), ERL_DRV_READ | ERL_DRV_USE, 0);
    collect_when_dead(s->pid);
  }
  delete s;
}

void stop_select(ErlDrvEvent event, void*) { close(descriptor(event)); }

void outputv(ErlDrvData data, ErlIOVec* vec) {
  SpawnPort* s = instance(data);
  if (s->stream.out() < 0) return void(driver_failure_posix(s->port, EBADF));
  const int held = std::exchange(s->input_of_child, -1);
  s->stream.write(vec);
  if (held >= 0) close(held);
}

void ready_output(ErlDrvData data, ErlDrvEvent) { instance(data)->stream.write_ready(); }

/// Sends {Port, {exit_status, Status}}, then ends the port. The instance is gone after that.
void end_with_status(SpawnPort& s) {
  ErlDrvTermData message[] = {ERL_DRV_PORT,  driver_mk_port(s.port),
                              ERL_DRV_ATOM,  driver_mk_atom(const_cast<char*>("exit_status")),
                              ERL_DRV_INT,   static_cast<ErlDrvTermData>(s.status),
                              ERL_DRV_TUPLE, 2,
                              ERL_DRV_TUPLE, 2};
  erl_drv_output_term(driver_mk_port(s.port), message, sizeof message / sizeof message[0]);
  driver_failure_eof(s.port);
}

void child_ended(SpawnPort& s) {
  const int status = take_exit_status(s.pid);
  if (status < 0) return;
  s.status = status;
  driver_select(s.port, event_of(s.watch), ERL_DRV_READ | ERL_DRV_USE, 0);
  s.watch = -1;
  if (s.input_ended) end_with_status(s);
}

void ready_input(ErlDrvData data, ErlDrvEvent event) {
  SpawnPort& s = *instance(data);
  let_input_go(s);
  if (descriptor(event) == s.watch) return child_ended(s);
  if (s.stream.read_ready() != ByteStream::Read::kEnd) return;
  s.input_ended = true;
  s.stream.end_input();
  if (!s.wants_status || (s.watch < 0 && s.status < 0)) driver_failure_eof(s.port);
  else if (s.status >= 0) end_with_status(s);
}

}  // namespace

void register_spawn_driver() {
  static ErlDrvEntry entry = own_driver_entry("spawn");
  entry.stop = stop;
  entry.outputv = outputv;
  entry.ready_input = ready_input;
  entry.ready_output = ready_output;
  entry.stop_select = stop_select;
  register_driver(&entry)->start_with_options = start;
}

}  // namespace vmrun
