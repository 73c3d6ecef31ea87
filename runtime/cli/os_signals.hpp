// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Signals of the operating system: which ones the machine handles from the start, and what it does
/// with them. Programs change that with os:set_signal/2.
namespace vmrun::cli {

/// `+B`: what the interrupt key does.
enum class BreakKey { kMenu, kIgnored, kEnds };

/// Installs the handlers, when the program is about to begin. Until then signals have their default
/// effect.
void take_signals(BreakKey key);
/// Handles a signal that a handler has announced (base/halt.hpp): the interrupt key shows the menu,
/// the attach signal opens the attach endpoint, any other becomes an event for the process
/// erl_signal_server. Called by the main thread.
void handle_signal(int number);
/// Restores the default actions while the machine ends, so that a user who cannot wait may end it
/// by any signal.
void leave_signals();

}  // namespace vmrun::cli
