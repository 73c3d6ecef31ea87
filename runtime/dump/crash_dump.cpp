// SPDX-License-Identifier: Apache-2.0
#include "runtime/dump/crash_dump.hpp"
#include "runtime/bif/system_texts.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <optional>

#include "runtime/bif/system_texts.hpp"
#include "runtime/bif/system_version.hpp"
#include "runtime/dump/machine_view.hpp"
#include "vm/base/clock.hpp"
#include "vm/base/crlf.hpp"
#include "vm/process/process_table.hpp"
#include "vm/process/registry.hpp"
#include "vm/term/atom.hpp"

namespace vmrun::dump {
namespace {

/// Reads the environment of the program's start, which os:putenv does not change.
std::optional<long long> number_in_environment(const char* name) {
  const char* text = std::getenv(name);
  if (!text || !*text) return {};
  return std::strtoll(text, nullptr, 10);  // text that is not a number counts as 0
}

const Term heart_port = intern_atom("heart_port");

/// Whether kernel's heart watches the machine, to restart it after its end. Names are looked up
/// without a lock.
bool has_heart() {
  const Term port = whereis(heart_port);
  return port && port.is_local_port();
}

/// -1: no limit.
long long seconds_for_dump() {
  return number_in_environment("ERL_CRASH_DUMP_SECONDS").value_or(has_heart() ? 0 : -1);
}

void say(std::string_view text) {
  const std::string lines = with_crlf(text);
  if (write(STDERR_FILENO, lines.data(), lines.size()) < 0) {}  // nowhere left to complain to
}

void write_header(DumpFile& out, std::string_view slogan) {
  char when[64];
  const std::time_t now = std::time(nullptr);
  std::tm parts{};
  localtime_r(&now, &parts);
  std::strftime(when, sizeof when, "%a %b %e %T %Y", &parts);
  out.print("=erl_crash_dump:0.5\n{}\nSlogan: {}\nSystem version: {}\nTaints: \nAtoms: {}\n", when, slogan,
            system_version(), atom_count());
  out.put("Calling Thread: main\n");
}

void write_all(DumpFile& out, std::string_view slogan, const StoppedMachine& stopped) {
  write_header(out, slogan);
  write_schedulers(out, stopped);
  write_memory(out);
  write_ports(out);
  write_tables(out);
  out.put(distribution_text());
  write_modules(out);
  process_table.for_each([&](Process& p) {
    if (!out.full()) write_process(out, p, stopped, /*stack=*/false);
  });
  write_process_terms(out, stopped);
  write_atoms(out);
  out.put("=end\n");
}

/// Returns a descriptor, or a negative number. When all descriptors are taken, standard input is
/// closed to make room, because the program ends anyway.
int open_dump(const std::string& path) {
  const auto try_open = [&] { return open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0640); };
  const int fd = try_open();
  if (fd >= 0 || errno != EMFILE) return fd;
  close(STDIN_FILENO);
  return try_open();
}

}  // namespace

void write_crash_dump(std::string_view slogan, const StoppedMachine& stopped) {
  const long long seconds = seconds_for_dump();
  if (seconds == 0) return;
  const char* named = std::getenv("ERL_CRASH_DUMP");
  const std::string path = named && *named ? named : "erl_crash.dump";
  say("\nCrash dump is being written to: " + path + "...");
  const int fd = open_dump(path);
  if (fd < 0) return say(std::string(std::strerror(errno)) + "\n");
  const long long bytes = number_in_environment("ERL_CRASH_DUMP_BYTES").value_or(-1);
  {
    DumpFile out(fd, bytes < 0 ? ~Word{0} : static_cast<Word>(bytes),
                 seconds < 0 ? 0 : static_cast<SWord>(monotonic_ns()) + seconds * 1'000'000'000);
    write_all(out, slogan, stopped);
  }
  close(fd);
  say("done\n");
}

void write_crash_dump(std::string_view slogan) {
  if (seconds_for_dump() != 0) write_crash_dump(slogan, StoppedMachine{});
}

}  // namespace vmrun::dump
