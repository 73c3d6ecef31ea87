// SPDX-License-Identifier: Apache-2.0
#include "runtime/cli/break_menu.hpp"

#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <vector>

#include "drivers/terminal/mode.hpp"
#include "runtime/bif/standard_input.hpp"
#include "runtime/bif/system_texts.hpp"
#include "runtime/bif/system_version.hpp"
#include "runtime/dump/crash_dump.hpp"
#include "runtime/dump/machine_view.hpp"
#include "vm/message/receiver.hpp"
#include "vm/process/process_table.hpp"
#include "vm/term/print.hpp"

namespace vmrun::cli {
namespace {

using dump::DumpFile;
using dump::StoppedMachine;

std::atomic<bool> shown{false};

void write_info(DumpFile& out, const StoppedMachine& stopped) {
  dump::write_memory(out);
  dump::write_schedulers(out, stopped);
  dump::write_ports(out);
  out.print("Processes: {}\nAtoms: {}\n", process_table.count(), atom_count());
}

/// Returns the next key, ignoring the rest of its line; 0 at the end of input.
char read_key() {
  char line[256];
  for (;;) {
    const ssize_t n = read(STDIN_FILENO, line, sizeof line);
    if (n < 0 && (errno == EINTR || errno == EAGAIN)) continue;
    if (n <= 0) return 0;
    if (line[0] != '\n' && line[0] != '\r') return line[0];
  }
}

/// Shows the processes one by one, to be killed or left alone. A killed process ends when the
/// machine goes on.
void kill_processes(DumpFile& out, const StoppedMachine& stopped) {
  std::vector<Process*> all;
  process_table.for_each([&](Process& p) { all.push_back(&p); });
  for (Process* p : all) {
    dump::write_process(out, *p, stopped, /*stack=*/true);
    out.put("(k)ill (n)ext (r)eturn:\n");
    out.flush();
    const char key = read_key();
    if (key == 'k')
      receiver_of(p->id).exit(p->id, {.from = p->id, .reason = atoms::kill, .fires_probe = false});
    else if (key != 'n') return;
  }
}

struct Entry {
  char key;
  const char* help;
  void (*write)(DumpFile& out, const StoppedMachine& stopped);  // nullptr: see choose
};
constexpr Entry kEntries[] = {
    {'a', "(a)bort", nullptr},
    {'A', "(A)bort with dump", nullptr},
    {'c', "(c)ontinue", nullptr},
    {'p', "(p)roc info", dump::write_processes},
    {'i', "(i)nfo", write_info},
    {'l', "(l)oaded", [](DumpFile& out, const StoppedMachine&) { dump::write_modules(out); }},
    {'k', "(k)ill", kill_processes},
    {'v', "(v)ersion",
     [](DumpFile& out, const StoppedMachine&) { out.print("{}\n", vmrun::system_version()); }},
    {'D', "(D)b-tables", [](DumpFile& out, const StoppedMachine&) { dump::write_tables(out); }},
    {'d', "(d)istribution", [](DumpFile& out, const StoppedMachine&) { out.put(distribution_text()); }},
    {'h', "(h)elp", nullptr},
};

void write_menu(DumpFile& out) {
  out.put("\nBREAK:");
  for (const Entry& e : kEntries) out.print("{}{}", e.key == 'l' ? "\n       " : " ", e.help);
  out.put("\n");
  out.flush();
}

[[noreturn]] void abort_machine(bool with_dump, const StoppedMachine& stopped) {
  if (!with_dump) ::_exit(0);
  dump::write_crash_dump("Crash dump requested by user", stopped);
  std::abort();
}

/// Returns false when the user continues.
bool choose(char key, DumpFile& out, const StoppedMachine& stopped) {
  if (key == 'c') return false;
  if (key == 'a' || key == 0) abort_machine(false, stopped);
  if (key == 'A') abort_machine(true, stopped);
  for (const Entry& e : kEntries)
    if (e.key == key && e.write) {
      e.write(out, stopped);
      out.flush();
      return true;
    }
  write_menu(out);
  return true;
}

}  // namespace

bool in_break_menu() { return shown.load(); }

void break_menu() {
  std::lock_guard reading(standard_input_lock());
  shown.store(true);
  terminal::pause_editing();  // so that an abort leaves the terminal as it was found
  {
    const StoppedMachine stopped;
    DumpFile out(STDOUT_FILENO);
    write_menu(out);
    while (choose(read_key(), out, stopped)) {}
    terminal::resume_editing();
    shown.store(false);  // before the machine goes on: from then on the key opens a new menu instead of
                         // ending the machine
  }
}

}  // namespace vmrun::cli
