// SPDX-License-Identifier: Apache-2.0
#include "drivers/terminal/mode.hpp"

#include <termios.h>
#include <unistd.h>

#include <atomic>
#include <csignal>

namespace vmrun::terminal {
namespace {

termios found, editing;  // written before `active`
std::atomic<bool> active{false};

void set(const termios& mode) { tcsetattr(STDIN_FILENO, TCSANOW, &mode); }

/// After SIGCONT: the program that stopped this one has set terminal modes of its own.
void continued(int) { resume_editing(); }

}  // namespace

bool begin_editing() {
  if (!isatty(STDIN_FILENO) || !isatty(STDOUT_FILENO) || tcgetattr(STDIN_FILENO, &found) != 0) return false;
  editing = found;
  editing.c_iflag &= ~static_cast<tcflag_t>(ISTRIP | ICRNL);
  editing.c_lflag &= ~static_cast<tcflag_t>(ICANON | ECHO);
  editing.c_oflag &= ~static_cast<tcflag_t>(OPOST);
  editing.c_cc[VMIN] = 1;
  editing.c_cc[VTIME] = 0;
  set(editing);
  active.store(true);
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
