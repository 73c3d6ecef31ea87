// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The linked-in driver `tty_sl`: a port to the terminal on which the machine was started, for the
/// line editing of OTP's module user_drv. Opening it fails when there is no terminal, or the
/// terminal's cursor cannot be moved.
namespace vmrun::terminal {

/// Called once, before processes run.
void register_terminal_driver();

}  // namespace vmrun::terminal
