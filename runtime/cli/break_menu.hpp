// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The menu that the interrupt key shows on the terminal while the machine is stopped.
namespace vmrun::cli {

/// Returns when the user continues; may end the machine. Called by the main thread.
void break_menu();

/// Whether the menu is shown: a second interrupt then ends the machine at once. Safe in a signal
/// handler.
bool in_break_menu();

}  // namespace vmrun::cli
