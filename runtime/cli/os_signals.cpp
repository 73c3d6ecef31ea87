// SPDX-License-Identifier: Apache-2.0
#include "runtime/cli/os_signals.hpp"

#include <unistd.h>

#include <csignal>

#include "probes/attach/endpoint.hpp"
#include "runtime/cli/break_menu.hpp"
#include "vm/base/epoch.hpp"
#include "vm/base/halt.hpp"
#include "vm/base/os_signal.hpp"
#include "vm/heap/fragment.hpp"
#include "vm/message/send.hpp"
#include "vm/process/registry.hpp"
#include "vm/term/atom.hpp"

namespace vmrun::cli {
namespace {

constexpr int kTaken[] = {SIGTERM, SIGQUIT, SIGUSR1};

void interrupted(int number) {
  if (in_break_menu()) ::_exit(0);
  announce_signal(number);
}

/// Sends {notify, Signal}, which gen_event expects. If there is no such process the signal is lost,
/// as with erl.
void notify_server(int number) {
  static const Term server_name = intern_atom("erl_signal_server"), notify = intern_atom("notify");
  EpochGuard guard;
  const Term server = whereis(server_name);
  if (!server) return;
  Arena arena;
  Term* hp = arena.alloc(3);
  send_from_vm(server, make_tuple(hp, notify, intern_atom(signal_name(number))));
}

}  // namespace

void take_signals(BreakKey key) {
  for (const int number : kTaken) set_signal_action(number, SignalAction::kHandle);
  set_signal_action(attach::attach_signal(), SignalAction::kHandle);
  if (key == BreakKey::kEnds) return;
  struct sigaction action {};
  action.sa_handler = key == BreakKey::kIgnored ? SIG_IGN : interrupted;
  action.sa_flags = SA_RESTART | SA_ONSTACK;
  sigaction(SIGINT, &action, nullptr);
}

void handle_signal(int number) {
  if (number == SIGINT) break_menu();
  else if (number == attach::attach_signal()) attach::open_endpoint();
  else notify_server(number);
}

void leave_signals() {
  for (const int number : kTaken) set_signal_action(number, SignalAction::kDefault);
  set_signal_action(SIGINT, SignalAction::kDefault);
}

}  // namespace vmrun::cli
