// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The linked-in drivers `fd`, ports on descriptors with which the machine was started (open_port
/// with {fd, In, Out}), and `vanilla`, ports on files (open_port with a file's name).
namespace vmrun {

/// Called once, before processes run.
void register_fd_driver();

}  // namespace vmrun
