// SPDX-License-Identifier: Apache-2.0
#include "drivers/fd/fd_driver.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "drivers/stream/byte_stream.hpp"
#include "drivers/terminal/window.hpp"
#include "vm/port/driver.hpp"

/// The descriptors of `fd` belong to the machine: they are neither closed nor made non-blocking,
/// because others (a shell, other users of the terminal) share them. Those of `vanilla` belong to
/// the port.
namespace vmrun {
namespace {

struct FdPort {
  ErlDrvPort port;
  ByteStream stream;
};

FdPort* instance(ErlDrvData data) { return reinterpret_cast<FdPort*>(data); }

ErlDrvData start_on(ErlDrvPort port, const PortOptions& options, int in, int out, bool own) {
  auto* f = new FdPort{port, {}};
  ByteStream::Options stream;
  stream.in = in;
  stream.out = out;
  stream.packet_bytes = options.packet_bytes;
  stream.own = own;
  stream.queue_low = options.queue_low;
  stream.queue_high = options.queue_high;
  f->stream.start(port, stream);
  return reinterpret_cast<ErlDrvData>(f);
}

ErlDrvData start(ErlDrvPort port, char*, const PortOptions& options) {
  if ((options.in && fcntl(options.fd_in, F_GETFD) < 0) ||
      (options.out && fcntl(options.fd_out, F_GETFD) < 0))
    return ERL_DRV_ERROR_ERRNO;
  return start_on(port, options, options.in ? options.fd_in : -1, options.out ? options.fd_out : -1, false);
}

/// Opens a file for the directions of the port, as OTP does. A file that is opened for writing only
/// is truncated.
int open_file(const PortOptions& options) {
  const int how = !options.out ? O_RDONLY : !options.in ? O_WRONLY | O_CREAT | O_TRUNC : O_RDWR | O_CREAT;
  return ::open(options.command.c_str(), how | O_CLOEXEC, 0666);
}

ErlDrvData start_file(ErlDrvPort port, char*, const PortOptions& options) {
  if (options.kind != PortOptions::Kind::kFile) return ERL_DRV_ERROR_BADARG;
  const int file = open_file(options);
  if (file < 0) return ERL_DRV_ERROR_GENERAL;
  if (!options.out) return start_on(port, options, file, -1, true);
  const int in = options.in ? fcntl(file, F_DUPFD_CLOEXEC, 0) : -1;  // each descriptor is closed separately
  if (in < 0 && options.in) {
    ::close(file);
    return ERL_DRV_ERROR_GENERAL;
  }
  return start_on(port, options, in, file, true);
}

void close_descriptor(ErlDrvEvent event, void*) {
  ::close(static_cast<int>(reinterpret_cast<std::intptr_t>(event)));
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

/// Returns the size of the terminal behind a descriptor, for `user` when no line is edited.
ErlDrvSSizeT control(ErlDrvData data, unsigned command, char*, ErlDrvSizeT, char** out, ErlDrvSizeT room) {
  if (command != terminal::kWindowSize) return -1;
  const auto size = terminal::window_size(instance(data)->stream.out());
  if (!size) return -1;
  if (sizeof *size > room) *out = static_cast<char*>(driver_alloc(sizeof *size));
  std::memcpy(*out, &*size, sizeof *size);
  return sizeof *size;
}

}  // namespace

namespace {

void register_one(ErlDrvEntry& entry,
                  ErlDrvData (*start)(ErlDrvPort port, char* command, const PortOptions& options)) {
  entry.stop = stop;
  entry.outputv = outputv;
  entry.ready_input = ready_input;
  entry.ready_output = ready_output;
  register_driver(&entry)->start_with_options = start;
}

}  // namespace

void register_fd_driver() {
  static ErlDrvEntry fd = own_driver_entry("fd"), vanilla = own_driver_entry("vanilla");
  fd.control = control;
  register_one(fd, start);
  vanilla.stop_select = close_descriptor;
  register_one(vanilla, start_file);
}

}  // namespace vmrun
