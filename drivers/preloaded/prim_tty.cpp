// SPDX-License-Identifier: Apache-2.0
// The terminal of OTP 26 and later, below OTP's module prim_tty, which edits lines itself. A
// terminal is a resource. One process of prim_tty reads: it is told when input is there. Another
// one writes. The table has what the module of OTP 27 and that of OTP 29 call; a module takes only
// the functions that it has.
//
// Reading and writing run on dirty schedulers, because other programs use the terminal too: one
// may take the input between the report and the read, and a terminal takes output as slowly as it
// likes.

#include <fcntl.h>
#include <langinfo.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/uio.h>
#include <termios.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cctype>
#include <cerrno>
#include <clocale>
#include <csignal>
#include <cstring>
#include <cwchar>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "drivers/preloaded/modules.hpp"
#include "drivers/preloaded/resources.hpp"
#include "drivers/preloaded/terminfo.hpp"
#include "drivers/terminal/mode.hpp"
#include "vm/base/uninterrupted.hpp"
#include "vm/include/erl_driver.h"
#include "vm/nif/library.hpp"

namespace vmrun::preloaded {
namespace {

using Terms = const ERL_NIF_TERM*;

constexpr std::size_t kVectorsAtOnce = 256, kBytesAtOnce = 1024;

/// A process that a terminal monitors.
struct Watched {
  ErlNifPid pid;
  bool is_set = false;

  bool is(const ErlNifPid& other) const { return is_set && enif_compare_pids(&pid, &other) == 0; }
};

struct Tty {
  int in = STDIN_FILENO, out = STDOUT_FILENO;
  std::mutex lock;  // guards what follows
  termios found{}, wanted{};
  bool has_modes = false;  // `found` and `wanted` are set
  Watched owner, reader;
};

Resources<Tty> ttys;

ERL_NIF_TERM atom(ErlNifEnv* env, const char* text) { return enif_make_atom(env, text); }
ERL_NIF_TERM ok(ErlNifEnv* env) { return atom(env, "ok"); }
ERL_NIF_TERM boolean(ErlNifEnv* env, bool b) { return atom(env, b ? "true" : "false"); }
ERL_NIF_TERM ok(ErlNifEnv* env, ERL_NIF_TERM value) { return enif_make_tuple2(env, ok(env), value); }
ERL_NIF_TERM error(ErlNifEnv* env, ERL_NIF_TERM reason) {
  return enif_make_tuple2(env, atom(env, "error"), reason);
}
ERL_NIF_TERM not_supported(ErlNifEnv* env) { return error(env, atom(env, "enotsup")); }
ERL_NIF_TERM failed(ErlNifEnv* env, const char* call) {
  const ERL_NIF_TERM name = atom(env, erl_errno_id(errno));
  return error(env, enif_make_tuple2(env, atom(env, call), name));
}

bool is_atom(ErlNifEnv* env, ERL_NIF_TERM term, const char* text) {
  return enif_is_identical(term, atom(env, text)) != 0;
}

/// Reads stdin, stdout or stderr.
bool get_descriptor(ErlNifEnv* env, ERL_NIF_TERM term, int* descriptor) {
  constexpr const char* kNames[] = {"stdin", "stdout", "stderr"};
  for (int i = 0; i < 3; ++i)
    if (is_atom(env, term, kNames[i])) return *descriptor = i, true;
  return false;
}

/// Reads a C string, whose final 0 prim_tty adds.
bool get_name(ErlNifEnv* env, ERL_NIF_TERM term, std::string* name) {
  ErlNifBinary bytes;
  if (!enif_inspect_iolist_as_binary(env, term, &bytes)) return false;
  *name = std::string(reinterpret_cast<const char*>(bytes.data), bytes.size).c_str();
  return true;
}

ERL_NIF_TERM binary(ErlNifEnv* env, std::string_view text) {
  ERL_NIF_TERM term;
  std::memcpy(enif_make_new_binary(env, text.size(), &term), text.data(), text.size());
  return term;
}

using Function = ERL_NIF_TERM(ErlNifEnv*, Tty&, Terms);

/// Begins all functions of a terminal.
template <Function* function>
ERL_NIF_TERM of_tty(ErlNifEnv* env, int, Terms a) {
  Tty* tty = ttys.find(env, a[0]);
  return tty ? function(env, *tty, a) : enif_make_badarg(env);
}

/// Monitors the caller in this role from now on.
void watch_caller(ErlNifEnv* env, Tty& tty, Watched& role) {
  ErlNifPid self;
  enif_self(env, &self);
  const std::lock_guard lock(tty.lock);
  if (role.is(self)) return;
  role.pid = self;
  role.is_set = enif_monitor_process(env, &tty, &self, nullptr) == 0;
}

// ---- Characters ----

ERL_NIF_TERM is_printable(ErlNifEnv* env, int, Terms a) {
  int c;
  if (!enif_get_int(env, a[0], &c)) return enif_make_badarg(env);
  return boolean(env, std::isprint(c & 0xFF) != 0);
}

ERL_NIF_TERM not_printable(ErlNifEnv* env) { return error(env, atom(env, "not_printable")); }

ERL_NIF_TERM width(ErlNifEnv* env, int, Terms a) {
  int c;
  if (!enif_get_int(env, a[0], &c)) return enif_make_badarg(env);
  const int columns = ::wcwidth(static_cast<wchar_t>(c));
  return columns < 0 ? not_printable(env) : enif_make_int(env, columns);
}

ERL_NIF_TERM width_of_string(ErlNifEnv* env, int, Terms a) {
  ErlNifBinary bytes;
  if (!enif_inspect_iolist_as_binary(env, a[0], &bytes)) return enif_make_badarg(env);
  std::wstring text(bytes.size / sizeof(wchar_t), L'\0');
  std::memcpy(text.data(), bytes.data, text.size() * sizeof(wchar_t));
  const int columns = ::wcswidth(text.data(), text.size());
  return columns < 0 ? not_printable(env) : ok(env, enif_make_int(env, columns));
}

ERL_NIF_TERM wide_character_bytes(ErlNifEnv* env, int, Terms) { return enif_make_int(env, sizeof(wchar_t)); }

/// The encoding of the bytes that are read, if it is not the locale's.
ERL_NIF_TERM encoding(ErlNifEnv* env, int, Terms) { return atom(env, "utf8"); }

/// Takes the user's locale. Returns whether it is one of UTF-8.
ERL_NIF_TERM set_locale(ErlNifEnv* env, int, Terms) {
  return boolean(env, std::setlocale(LC_CTYPE, "") && std::strcmp(nl_langinfo(CODESET), "UTF-8") == 0);
}

// ---- The terminal's modes ----

ERL_NIF_TERM is_terminal(ErlNifEnv* env, int, Terms a) {
  int descriptor;
  if (!get_descriptor(env, a[0], &descriptor)) return enif_make_badarg(env);
  if (isatty(descriptor)) return atom(env, "true");
  return atom(env, errno == EINVAL || errno == ENOTTY ? "false" : "ebadf");
}

/// OTP 29's names the descriptor for output.
ERL_NIF_TERM create(ErlNifEnv* env, int argc, Terms a) {
  int out = STDOUT_FILENO;
  if (argc == 1 && (!get_descriptor(env, a[0], &out) || out == STDIN_FILENO)) return enif_make_badarg(env);
  ERL_NIF_TERM term;
  Tty& tty = ttys.make(env, &term);
  tty.out = out;
  if (argc == 1 && terminfo::kHasTerminfo && tcgetattr(out, &tty.found) == 0) {
    tty.wanted = tty.found;
    tty.has_modes = true;
  }
  return ok(env, term);
}

void set_flags(tcflag_t& flags, tcflag_t which, bool on) { flags = on ? flags | which : flags & ~which; }

/// Whether keys come one by one, and output is left as it is.
void set_raw(termios& mode, bool raw) {
  set_flags(mode.c_iflag, ICRNL, !raw);
  set_flags(mode.c_lflag, ICANON, !raw);
  set_flags(mode.c_oflag, OPOST, !raw);
  if (!raw) return;
  mode.c_cc[VMIN] = 1;
  mode.c_cc[VTIME] = 0;
}

/// Whether keys send signals and stop output.
void set_signals(termios& mode, bool on) {
  set_flags(mode.c_iflag, BRKINT | IGNPAR | ICRNL | IXON | IXANY, on);
  set_flags(mode.c_lflag, ISIG | IEXTEN, on);
}

/// Returns the option's value; -1 if it is neither true nor false.
int option(ErlNifEnv* env, ERL_NIF_TERM options, const char* name) {
  ERL_NIF_TERM value;
  if (!enif_get_map_value(env, options, atom(env, name), &value)) return -1;
  return is_atom(env, value, "true") ? 1 : is_atom(env, value, "false") ? 0 : -1;
}

/// OTP 27: (Tty, Descriptor, Options) prepares modes, which tty_set sets.
ERL_NIF_TERM prepare(ErlNifEnv* env, Tty& tty, Terms a) {
  int descriptor;
  if (!get_descriptor(env, a[1], &descriptor) || !enif_is_map(env, a[2])) return enif_make_badarg(env);
  if (!terminfo::kHasTerminfo) return not_supported(env);
  const std::lock_guard lock(tty.lock);
  if (tcgetattr(descriptor, &tty.found) < 0) return failed(env, "tcgetattr");
  tty.wanted = tty.found;
  tty.has_modes = true;
  set_flags(tty.wanted.c_iflag, ISTRIP, false);
  if (const int canon = option(env, a[2], "canon"); canon >= 0) set_raw(tty.wanted, canon == 0);
  if (const int echo = option(env, a[2], "echo"); echo >= 0) set_flags(tty.wanted.c_lflag, ECHO, echo == 1);
  if (const int sig = option(env, a[2], "sig"); sig >= 0) set_signals(tty.wanted, sig == 1);
  return ok(env);
}

bool hold_modes(Tty& tty, int descriptor) {
  const std::lock_guard lock(tty.lock);
  return !tty.has_modes || terminal::hold_modes(descriptor, tty.found, tty.wanted);
}

ERL_NIF_TERM set(ErlNifEnv* env, Tty& tty, Terms) {
  if (!terminfo::kHasTerminfo) return not_supported(env);
  if (!hold_modes(tty, tty.in)) return failed(env, "tcsetattr");
  watch_caller(env, tty, tty.owner);
  return ok(env);
}

/// OTP 29: (Tty, Options) sets modes.
ERL_NIF_TERM init(ErlNifEnv* env, Tty& tty, Terms a) {
  ERL_NIF_TERM input;
  if (!enif_is_map(env, a[1]) || !enif_get_map_value(env, a[1], atom(env, "input"), &input))
    return enif_make_badarg(env);
  const bool raw = is_atom(env, input, "raw");
  if (!tty.has_modes) return raw ? not_supported(env) : ok(env);
  {
    const std::lock_guard lock(tty.lock);
    tty.wanted = tty.found;
    if (raw) {
      set_flags(tty.wanted.c_iflag, ISTRIP, false);
      set_raw(tty.wanted, true);
      set_flags(tty.wanted.c_lflag, ECHO, false);
    }
  }
  if (!raw) terminal::end_editing();
  else if (!hold_modes(tty, tty.out)) return failed(env, "tcsetattr");
  watch_caller(env, tty, tty.owner);
  return ok(env);
}

ERL_NIF_TERM window_size(ErlNifEnv* env, Tty& tty, Terms) {
  winsize seen{};
  if (ioctl(tty.in, TIOCGWINSZ, &seen) != 0 && ioctl(tty.out, TIOCGWINSZ, &seen) != 0) seen = {};
  if (!seen.ws_col && !seen.ws_row) return not_supported(env);
  const auto known = [env](unsigned short n) { return enif_make_int(env, n ? n : -1); };
  return ok(env, enif_make_tuple2(env, known(seen.ws_col), known(seen.ws_row)));
}

/// Whether the other side of stdin, stdout or stderr is still there.
ERL_NIF_TERM is_open(ErlNifEnv* env, Tty&, Terms a) {
  int descriptor;
  if (!get_descriptor(env, a[1], &descriptor)) return enif_make_badarg(env);
  pollfd seen{descriptor, POLLHUP, 0};
  const int count = uninterrupted([&] { return poll(&seen, 1, 0); });
  if (count < 0) return failed(env, "tty_is_open");
  if (count == 0) return atom(env, "true");
  return seen.revents & POLLHUP ? atom(env, "false") : enif_make_badarg(env);
}

// ---- Signals (until OTP 27; later releases take them by os:set_signal/2) ----

// The handlers write a byte for each signal. The pipe stays for good, so a handler never finds a
// descriptor that has become another file's.
int signal_pipe[2] = {-1, -1};
std::mutex signal_pipe_lock;

constexpr char kContinued = 'c', kResized = 'w';

template <const char& byte>
void write_signal(int) {
  const int error = errno;
  if (write(signal_pipe[1], &byte, 1) < 0) {}  // it is full: the reader has enough to do
  errno = error;
}

bool open_signal_pipe() {
  const std::lock_guard lock(signal_pipe_lock);
  return signal_pipe[0] >= 0 || pipe2(signal_pipe, O_CLOEXEC | O_NONBLOCK) == 0;
}

void handle_signals(bool on) {
  struct sigaction action {};
  action.sa_flags = SA_RESTART | SA_ONSTACK;
  action.sa_handler = on ? write_signal<kContinued> : SIG_DFL;
  sigaction(SIGCONT, &action, nullptr);
  action.sa_handler = on ? write_signal<kResized> : SIG_DFL;
  sigaction(SIGWINCH, &action, nullptr);
}

void wait_for(ErlNifEnv* env, Tty& tty, int descriptor, ERL_NIF_TERM reference) {
  enif_select(env, descriptor, ERL_NIF_SELECT_READ, &tty, nullptr, reference);
}

ERL_NIF_TERM read_signal(ErlNifEnv* env, Tty& tty, Terms a) {
  char byte;
  const ssize_t size = read(signal_pipe[0], &byte, 1);
  if (size < 0) return failed(env, "read");
  if (size == 0) return error(env, atom(env, "empty"));
  wait_for(env, tty, signal_pipe[0], a[1]);
  return ok(env, atom(env, byte == kResized ? "winch" : "cont"));
}

// ---- Reading and writing ----

/// OTP 27: (Tty, SignalReference, Reference). The caller is told of signals and of input.
ERL_NIF_TERM select_with_signals(ErlNifEnv* env, Tty& tty, Terms a) {
  if (!open_signal_pipe()) return failed(env, "pipe");
  wait_for(env, tty, signal_pipe[0], a[1]);
  handle_signals(true);
  wait_for(env, tty, tty.in, a[2]);
  watch_caller(env, tty, tty.reader);
  return ok(env);
}

/// OTP 29: (Tty, Reference).
ERL_NIF_TERM select(ErlNifEnv* env, Tty& tty, Terms a) {
  wait_for(env, tty, tty.in, a[1]);
  watch_caller(env, tty, tty.reader);
  return ok(env);
}

/// Returns what is there, which is nothing if another program was faster; -1: see errno; and
/// whether the input has ended.
ssize_t read_available(int descriptor, std::span<char> room, bool* ended) {
  pollfd seen{descriptor, POLLIN, 0};
  if (uninterrupted([&] { return poll(&seen, 1, 0); }) == 0) return 0;
  const ssize_t size = read(descriptor, room.data(), room.size());
  if (size < 0 && (errno == EAGAIN || errno == EINTR)) return 0;
  *ended = size == 0;
  return size;
}

/// (Tty, Reference), and since OTP 28 the most bytes to read.
ERL_NIF_TERM read_some(ErlNifEnv* env, int argc, Terms a) {
  Tty* const tty = ttys.find(env, a[0]);
  ErlNifUInt64 wanted = kBytesAtOnce;
  if (!tty || (argc == 3 && !enif_get_uint64(env, a[2], &wanted))) return enif_make_badarg(env);
  char room[kBytesAtOnce];
  bool ended = false;
  const ssize_t size = read_available(tty->in, std::span(room).first(std::min(wanted, sizeof room)), &ended);
  if (size < 0) return failed(env, "read");
  if (ended) return error(env, atom(env, "closed"));
  wait_for(env, *tty, tty->in, a[1]);
  return ok(env, binary(env, {room, static_cast<std::size_t>(size)}));
}

/// Leaves out what has been written.
std::span<iovec> rest_of(std::span<iovec> parts, std::size_t written) {
  while (!parts.empty() && parts.front().iov_len <= written) {
    written -= parts.front().iov_len;
    parts = parts.subspan(1);
  }
  if (parts.empty()) return parts;
  parts.front().iov_base = static_cast<char*>(parts.front().iov_base) + written;
  parts.front().iov_len -= written;
  return parts;
}

/// Waits while the other side takes nothing, also if another program has made the descriptor one
/// that does not block. Returns an errno.
int write_all(int descriptor, std::span<iovec> parts) {
  while (!(parts = rest_of(parts, 0)).empty()) {
    const ssize_t written = writev(descriptor, parts.data(), static_cast<int>(parts.size()));
    if (written >= 0) {
      parts = rest_of(parts, static_cast<std::size_t>(written));
    } else if (errno == EAGAIN) {
      pollfd room{descriptor, POLLOUT, 0};
      poll(&room, 1, -1);
    } else if (errno != EINTR) {
      return errno;
    }
  }
  return 0;
}

ERL_NIF_TERM write_vectors(ErlNifEnv* env, Tty& tty, Terms a) {
  for (ERL_NIF_TERM rest = a[1]; !enif_is_empty_list(env, rest);) {
    ErlNifIOVec room, *vectors = &room;
    if (!enif_inspect_iovec(env, kVectorsAtOnce, rest, &rest, &vectors)) return enif_make_badarg(env);
    std::vector<iovec> parts(static_cast<std::size_t>(vectors->iovcnt));
    std::transform(vectors->iov, vectors->iov + vectors->iovcnt, parts.begin(), [](const SysIOVec& v) {
      return iovec{v.iov_base, v.iov_len};
    });
    if (const int failure = write_all(tty.out, parts)) return error(env, atom(env, erl_errno_id(failure)));
  }
  return ok(env);
}

// ---- What the terminal can do ----

/// Begins all functions that take a name and need the library.
template <ERL_NIF_TERM function(ErlNifEnv*, const char* name)>
ERL_NIF_TERM of_name(ErlNifEnv* env, int, Terms a) {
  std::string name;
  if constexpr (terminfo::kHasTerminfo)
    return get_name(env, a[0], &name) ? function(env, name.c_str()) : enif_make_badarg(env);
  else return not_supported(env);
}

ERL_NIF_TERM load_terminal(ErlNifEnv* env, const char* name) {
  return terminfo::load(name) ? ok(env) : failed(env, "tgetent");
}

ERL_NIF_TERM number(ErlNifEnv* env, const char* name) { return enif_make_int(env, terminfo::number(name)); }

ERL_NIF_TERM flag(ErlNifEnv* env, const char* name) { return boolean(env, terminfo::flag(name)); }

ERL_NIF_TERM text_or_false(ErlNifEnv* env, const std::optional<std::string>& text) {
  return text ? ok(env, binary(env, *text)) : atom(env, "false");
}

ERL_NIF_TERM termcap_string(ErlNifEnv* env, const char* name) {
  return text_or_false(env, terminfo::termcap_string(name));
}

ERL_NIF_TERM string(ErlNifEnv* env, const char* name) {
  std::optional<std::string> value;
  return terminfo::string(name, &value) ? text_or_false(env, value) : enif_make_badarg(env);
}

ERL_NIF_TERM load_users_terminal(ErlNifEnv* env, int, Terms) {
  if constexpr (terminfo::kHasTerminfo) return terminfo::load_users() ? ok(env) : failed(env, "setupterm");
  else return not_supported(env);
}

ERL_NIF_TERM text_or_error(ErlNifEnv* env, const char* call, const std::optional<std::string>& text) {
  return text ? ok(env, binary(env, *text)) : failed(env, call);
}

/// (Capability), (Capability, Column), (Capability, Column, Row).
ERL_NIF_TERM go_to(ErlNifEnv* env, int argc, Terms a) {
  if constexpr (terminfo::kHasTerminfo) {
    std::string capability;
    int x[2] = {};
    bool good = get_name(env, a[0], &capability);
    for (int i = 1; i < argc; ++i) good = good && enif_get_int(env, a[i], &x[i - 1]);
    if (!good) return enif_make_badarg(env);
    return text_or_error(env, "tgoto", terminfo::with_position(capability.c_str(), x[0], x[1]));
  } else {
    return not_supported(env);
  }
}

/// (Capability, Parameters).
ERL_NIF_TERM put_parameters(ErlNifEnv* env, int, Terms a) {
  if constexpr (terminfo::kHasTerminfo) {
    std::string capability;
    std::vector<long> parameters;
    ERL_NIF_TERM head, rest = a[1];
    bool good = get_name(env, a[0], &capability);
    while (good && enif_get_list_cell(env, rest, &head, &rest))
      good = enif_get_long(env, head, &parameters.emplace_back());
    if (!good || !enif_is_empty_list(env, rest) || parameters.size() > 9) return enif_make_badarg(env);
    return text_or_error(env, "tparm", terminfo::with_parameters(capability.c_str(), parameters));
  } else {
    return not_supported(env);
  }
}

ERL_NIF_TERM list_of_names(ErlNifEnv* env, terminfo::Kind kind) {
  ERL_NIF_TERM keys[] = {atom(env, "name"), atom(env, "code"), atom(env, "full_name")};
  ERL_NIF_TERM list = enif_make_list(env, 0);
  if constexpr (terminfo::kHasTerminfo)
    for (const terminfo::Name& n : terminfo::names(kind)) {
      const auto text = [env](const char* s) { return enif_make_string(env, s, ERL_NIF_LATIN1); };
      ERL_NIF_TERM values[] = {text(n.name), text(n.code), text(n.full_name)}, map;
      enif_make_map_from_arrays(env, keys, values, 3, &map);
      list = enif_make_list_cell(env, map, list);
    }
  return list;
}

ERL_NIF_TERM all_names(ErlNifEnv* env, int, Terms) {
  if (!terminfo::kHasTerminfo) return not_supported(env);
  ERL_NIF_TERM keys[] = {atom(env, "bool"), atom(env, "num"), atom(env, "str")};
  ERL_NIF_TERM values[] = {list_of_names(env, terminfo::Kind::kFlag),
                           list_of_names(env, terminfo::Kind::kNumber),
                           list_of_names(env, terminfo::Kind::kString)};
  ERL_NIF_TERM map;
  enif_make_map_from_arrays(env, keys, values, 3, &map);
  return map;
}

// ---- The library ----

/// Without its owner the terminal is as it was found; without its reader nobody waits for input.
void down(ErlNifEnv* env, void* object, ErlNifPid* pid, ErlNifMonitor*) {
  Tty& tty = *static_cast<Tty*>(object);
  bool was_owner, was_reader;
  {
    const std::lock_guard lock(tty.lock);
    was_owner = tty.owner.is(*pid);
    was_reader = tty.reader.is(*pid);
    if (was_owner) tty.owner.is_set = false;
    if (was_reader) tty.reader.is_set = false;
  }
  if (was_owner) terminal::end_editing();
  if (!was_reader) return;
  const ERL_NIF_TERM undefined = atom(env, "undefined");
  enif_select(env, tty.in, ERL_NIF_SELECT_STOP, &tty, nullptr, undefined);
  if (signal_pipe[0] < 0) return;
  handle_signals(false);
  enif_select(env, signal_pipe[0], ERL_NIF_SELECT_STOP, &tty, nullptr, undefined);
}

int load(ErlNifEnv* env, void**, ERL_NIF_TERM) { return ttys.open(env, "tty", down) ? 0 : 1; }
int upgrade(ErlNifEnv* env, void** data, void**, ERL_NIF_TERM info) { return load(env, data, info); }

ErlNifFunc functions[] = {
    {"isatty", 1, is_terminal, 0},
    {"isprint", 1, is_printable, 0},
    {"wcwidth", 1, width, 0},
    {"wcswidth", 1, width_of_string, 0},
    {"sizeof_wchar", 0, wide_character_bytes, 0},
    {"setlocale", 1, set_locale, 0},
    {"tty_encoding", 1, encoding, 0},
    {"tty_window_size", 1, of_tty<window_size>, 0},
    {"write_nif", 2, of_tty<write_vectors>, ERL_NIF_DIRTY_JOB_IO_BOUND},
    // OTP 26 and 27.
    {"tty_create", 0, create, 0},
    {"tty_init", 3, of_tty<prepare>, 0},
    {"tty_set", 1, of_tty<set>, 0},
    {"tty_select", 3, of_tty<select_with_signals>, 0},
    {"tty_read_signal", 2, of_tty<read_signal>, 0},
    {"read_nif", 2, read_some, ERL_NIF_DIRTY_JOB_IO_BOUND},
    {"tgetent_nif", 1, of_name<load_terminal>, 0},
    {"tgetnum_nif", 1, of_name<number>, 0},
    {"tgetflag_nif", 1, of_name<flag>, 0},
    {"tgetstr_nif", 1, of_name<termcap_string>, 0},
    {"tgoto_nif", 1, go_to, 0},
    {"tgoto_nif", 2, go_to, 0},
    {"tgoto_nif", 3, go_to, 0},
    // OTP 28 and 29.
    {"tty_create", 1, create, 0},
    {"tty_init", 2, of_tty<init>, 0},
    {"tty_is_open", 2, of_tty<is_open>, 0},
    {"tty_select", 2, of_tty<select>, 0},
    {"read_nif", 3, read_some, ERL_NIF_DIRTY_JOB_IO_BOUND},
    {"setupterm_nif", 0, load_users_terminal, 0},
    {"tigetnum_nif", 1, of_name<number>, 0},
    {"tigetflag_nif", 1, of_name<flag>, 0},
    {"tigetstr_nif", 1, of_name<string>, 0},
    {"tinfo_nif", 0, all_names, 0},
    {"tputs_nif", 2, put_parameters, 0},
};

}  // namespace

ErlNifEntry* prim_tty() {
  static ErlNifEntry made = linked_in_entry("prim_tty", functions, load, upgrade);
  return &made;
}

}  // namespace vmrun::preloaded
