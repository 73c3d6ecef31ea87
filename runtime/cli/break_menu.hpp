#pragma once

/// What the interrupt key shows: a menu on the terminal, while the machine stands still.
namespace vmrun::cli {

/// Until the user continues. May end the machine. The main thread.
void break_menu();

/// What a second interrupt does: ends the machine, at once. For the signal handler.
bool in_break_menu();

}  // namespace vmrun::cli
