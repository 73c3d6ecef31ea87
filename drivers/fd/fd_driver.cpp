#include "drivers/fd/fd_driver.hpp"

#include <fcntl.h>

#include <cerrno>

#include "drivers/stream/byte_stream.hpp"
#include "vm/port/driver.hpp"

/// The descriptors stay the machine's: they are neither closed nor made non-blocking, because
/// others (a shell, the terminal's other users) share them.
namespace vmrun {
namespace {

struct FdPort {
  ErlDrvPort port;
  ByteStream stream;
};

FdPort* instance(ErlDrvData data) { return reinterpret_cast<FdPort*>(data); }

ErlDrvData start(ErlDrvPort port, char*, const PortOptions& options) {
  if ((options.in && fcntl(options.fd_in, F_GETFD) < 0) ||
      (options.out && fcntl(options.fd_out, F_GETFD) < 0))
    return ERL_DRV_ERROR_ERRNO;
  auto* f = new FdPort{port, {}};
  ByteStream::Options stream;
  stream.in = options.in ? options.fd_in : -1;
  stream.out = options.out ? options.fd_out : -1;
  stream.packet_bytes = options.packet_bytes;
  stream.own = false;
  stream.queue_low = options.queue_low;
  stream.queue_high = options.queue_high;
  f->stream.start(port, stream);
  return reinterpret_cast<ErlDrvData>(f);
}

void stop(ErlDrvData data) {
  FdPort* f = instance(data);
  f->stream.stop();
  delete f;
}

void outputv(ErlDrvData data, ErlIOVec* vec) {
  FdPort* f = instance(data);
  if (f->stream.out() >= 0) f->stream.write(vec);
  else driver_failure_posix(f->port, EBADF);
}

void ready_output(ErlDrvData data, ErlDrvEvent) { instance(data)->stream.write_ready(); }

void ready_input(ErlDrvData data, ErlDrvEvent) {
  FdPort* f = instance(data);
  if (f->stream.read_ready() != ByteStream::Read::kEnd) return;
  f->stream.end_input();
  driver_failure_eof(f->port);
}

}  // namespace

void register_fd_driver() {
  static ErlDrvEntry entry = own_driver_entry("fd");
  entry.stop = stop;
  entry.outputv = outputv;
  entry.ready_input = ready_input;
  entry.ready_output = ready_output;
  register_driver(&entry)->start_with_options = start;
}

}  // namespace vmrun
