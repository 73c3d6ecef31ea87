#pragma once

/// The linked-in driver `tty_sl`: a port to the terminal that the machine was started on, for OTP's
/// module user_drv, which edits lines with it. Opening it fails where there is no terminal, or one
/// whose cursor cannot be moved.
namespace vmrun::terminal {

/// Once, before processes run.
void register_terminal_driver();

}  // namespace vmrun::terminal
