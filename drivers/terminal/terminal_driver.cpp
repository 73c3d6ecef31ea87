// SPDX-License-Identifier: Apache-2.0
#include "drivers/terminal/terminal_driver.hpp"

#include <langinfo.h>
#include <unistd.h>

#include <cerrno>
#include <clocale>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <string_view>

#include "drivers/stream/byte_stream.hpp"
#include "drivers/terminal/line.hpp"
#include "drivers/terminal/mode.hpp"
#include "drivers/terminal/terminal_input.hpp"
#include "drivers/terminal/window.hpp"
#include "vm/port/driver.hpp"

// A command is a byte that says what to do, followed by a text in UTF-8 or a number of 16 bits.
// port_control/3 answers with native integers.

namespace vmrun::terminal {
namespace {

enum Command : std::uint8_t { kPut, kMove, kInsert, kErase, kBeep, kPutAndTell };

enum Control : unsigned { kUnicode = kWindowSize + 1, kSetUnicode };

struct TerminalPort {
  ErlDrvPort port;
  ByteStream stream;
  Line line;
  Input input;
  bool tell = false;  // when all is written
};

bool port_is_open = false;  // one editor; under the driver's lock

TerminalPort* instance(ErlDrvData data) { return reinterpret_cast<TerminalPort*>(data); }

WindowSize window() { return window_size(STDIN_FILENO).value_or(WindowSize{}); }

bool cursor_can_move() {
  const char* name = std::getenv("TERM");
  return name && *name && std::strcmp(name, "dumb") != 0 && std::strcmp(name, "unknown") != 0;
}

/// The user's locale decides; it also gives the widths of characters.
bool shows_utf8() { return std::setlocale(LC_CTYPE, "") && std::strcmp(nl_langinfo(CODESET), "UTF-8") == 0; }

ErlDrvData start(ErlDrvPort port, char*) {
  if (port_is_open || !cursor_can_move() || !begin_editing()) {
    errno = ENOTTY;
    return ERL_DRV_ERROR_ERRNO;
  }
  port_is_open = true;
  auto* t = new TerminalPort{port, {}, Line(shows_utf8()), {}};
  ByteStream::Options stream;
  stream.in = STDIN_FILENO;
  stream.out = STDOUT_FILENO;
  stream.own = false;
  stream.queue_high = 0;  // the owner must get keys even if the terminal is slow
  t->stream.start(port, stream);
  return reinterpret_cast<ErlDrvData>(t);
}

void stop(ErlDrvData data) {
  TerminalPort* t = instance(data);
  t->stream.stop();
  end_editing();
  port_is_open = false;
  delete t;
}

/// Returns false when the port has failed.
bool write(TerminalPort* t, std::string_view bytes) {
  if (bytes.empty()) return true;
  ErlDrvBinary* binary = driver_alloc_binary(bytes.size());
  std::memcpy(binary->orig_bytes, bytes.data(), bytes.size());
  SysIOVec vectors[] = {{nullptr, 0}, {binary->orig_bytes, bytes.size()}};
  ErlDrvBinary* binaries[] = {nullptr, binary};
  ErlIOVec all{};
  all.vsize = 2;
  all.size = bytes.size();
  all.iov = vectors;
  all.binv = binaries;
  const bool good = t->stream.write(&all);
  driver_free_binary(binary);
  return good;
}

void tell_if_written(TerminalPort* t) {
  if (!t->tell || driver_sizeq(t->port) > 0) return;
  t->tell = false;
  ErlDrvTermData message[] = {ERL_DRV_PORT,  driver_mk_port(t->port),
                              ERL_DRV_ATOM,  driver_mk_atom(const_cast<char*>("ok")),
                              ERL_DRV_TUPLE, 2};
  erl_drv_output_term(driver_mk_port(t->port), message, std::size(message));
}

/// Big-endian; missing bytes count as 0.
long number_of(std::string_view bytes) {
  if (bytes.size() < 2) return 0;
  return static_cast<std::int16_t>(static_cast<std::uint8_t>(bytes[0]) << 8 |
                                   static_cast<std::uint8_t>(bytes[1]));
}

std::string perform(Line& line, std::uint8_t command, std::string_view rest) {
  switch (command) {
    case kPut:
    case kPutAndTell: return line.put(rest);
    case kMove: return line.move(number_of(rest));
    case kInsert: return line.insert(rest);
    case kErase: return line.erase(number_of(rest));
    case kBeep: return "\a";
    default: return {};
  }
}

void output(ErlDrvData data, char* bytes, ErlDrvSizeT size) {
  TerminalPort* t = instance(data);
  if (size == 0) return;
  const auto command = static_cast<std::uint8_t>(*bytes);
  t->line.set_columns(window().columns);
  t->tell = t->tell || command == kPutAndTell;
  if (write(t, perform(t->line, command, {bytes + 1, size - 1}))) tell_if_written(t);
}

void ready_output(ErlDrvData data, ErlDrvEvent) {
  TerminalPort* t = instance(data);
  if (t->stream.write_ready()) tell_if_written(t);
}

void deliver(TerminalPort* t, std::string text) {
  if (!text.empty()) driver_output(t->port, text.data(), text.size());
}

/// One read only: other programs use the terminal too, and a second read could block.
void ready_input(ErlDrvData data, ErlDrvEvent) {
  TerminalPort* t = instance(data);
  char bytes[1024];
  const ssize_t size = read(STDIN_FILENO, bytes, sizeof bytes);
  if (size > 0) return deliver(t, t->input.take({bytes, static_cast<std::size_t>(size)}, t->line.utf8()));
  if (size < 0) {
    if (errno != EAGAIN && errno != EINTR) driver_failure_posix(t->port, errno);
    return;
  }
  deliver(t, t->input.take_rest());
  t->stream.end_input();
  driver_failure_eof(t->port);
}

ErlDrvSSizeT answer(char** out, ErlDrvSizeT room, const void* bytes, std::size_t size) {
  if (size > room) *out = static_cast<char*>(driver_alloc(size));
  std::memcpy(*out, bytes, size);
  return static_cast<ErlDrvSSizeT>(size);
}

ErlDrvSSizeT control(ErlDrvData data, unsigned command, char* bytes, ErlDrvSizeT size, char** out,
                     ErlDrvSizeT room) {
  Line& line = instance(data)->line;
  const char was_utf8 = line.utf8() ? 1 : 0;
  switch (command) {
    case kWindowSize: {
      const WindowSize size_now = window();
      return answer(out, room, &size_now, sizeof size_now);
    }
    case kSetUnicode:
      if (size == 0) return 0;
      line.set_utf8(*bytes != 0);
      return answer(out, room, &was_utf8, sizeof was_utf8);
    case kUnicode: return answer(out, room, &was_utf8, sizeof was_utf8);
    default: return -1;
  }
}

}  // namespace

void register_terminal_driver() {
  static ErlDrvEntry entry = own_driver_entry("tty_sl");
  entry.driver_flags = 0;  // one lock for all its ports; one at a time is open
  entry.start = start;
  entry.stop = stop;
  entry.output = output;
  entry.ready_input = ready_input;
  entry.ready_output = ready_output;
  entry.control = control;
  register_driver(&entry);
}

}  // namespace vmrun::terminal
