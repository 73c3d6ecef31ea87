#pragma once

/// Signals of the operating system: which ones the machine takes from the start, and what becomes
/// of those it takes. Programs change that with os:set_signal/2.
namespace vmrun::cli {

/// `+B`: what the interrupt key does.
enum class BreakKey { kMenu, kIgnored, kEnds };

/// When the program is about to begin; until then signals do what the operating system does.
void take_signals(BreakKey key);
/// One that was announced (base/halt.hpp): the interrupt key shows the menu, any other is an event
/// for the process erl_signal_server. The main thread.
void handle_signal(int number);
/// The machine ends: whoever cannot wait may end it by any signal.
void leave_signals();

}  // namespace vmrun::cli
