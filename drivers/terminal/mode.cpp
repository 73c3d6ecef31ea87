// SPDX-License-Identifier: Apache-2.0
#include "drivers/terminal/mode.hpp"

#include <termios.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <mutex>

#include "vm/base/fatal_signal.hpp"

namespace vmrun::terminal {
namespace {

termios found, editing;  // written while not `active`
int terminal_descriptor = STDIN_FILENO;
std::atomic<bool> active{false};
std::mutex begin_lock;

bool set(const termios& mode) { return tcsetattr(terminal_descriptor, TCSANOW, &mode) == 0; }

/// What has crashed is reported on a terminal as it was found, and so the user gets it back.
void restore_after_crash() {
  static std::once_flag once;
  std::call_once(once, [] {
    on_fatal_signal([](const FatalSignal&) {
      end_editing();
      return false;
    });
  });
}

/// After SIGCONT: the program that stopped this one has set terminal modes of its own.
void continued(int) { resume_editing(); }

}  // namespace

bool hold_modes(int descriptor, const termios& before, const termios& wanted) {
  const std::lock_guard lock(begin_lock);
  restore_after_crash();
  if (!active.exchange(false)) found = before;
  terminal_descriptor = descriptor;
  editing = wanted;
  active.store(true);
  return set(editing);
}

bool begin_editing() {
  termios now;
  if (!isatty(STDIN_FILENO) || !isatty(STDOUT_FILENO) || tcgetattr(STDIN_FILENO, &now) != 0) return false;
  termios editing = now;
  editing.c_iflag &= ~static_cast<tcflag_t>(ISTRIP | ICRNL);
  editing.c_lflag &= ~static_cast<tcflag_t>(ICANON | ECHO);
  editing.c_oflag &= ~static_cast<tcflag_t>(OPOST);
  editing.c_cc[VMIN] = 1;
  editing.c_cc[VTIME] = 0;
  hold_modes(STDIN_FILENO, now, editing);
  struct sigaction action {};
  action.sa_handler = continued;
  action.sa_flags = SA_RESTART | SA_ONSTACK;
  sigaction(SIGCONT, &action, nullptr);
  return true;
}

void end_editing() {
  if (active.exchange(false)) set(found);
}

void pause_editing() {
  if (active.load()) set(found);
}

void resume_editing() {
  if (active.load()) set(editing);
}

}  // namespace vmrun::terminal
