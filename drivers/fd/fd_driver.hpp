#pragma once

/// The linked-in drivers `fd`, ports on descriptors the machine was started with (open_port with
/// {fd, In, Out}), and `vanilla`, ports on files (open_port with the name of one).
namespace vmrun {

/// Once, before processes run.
void register_fd_driver();

}  // namespace vmrun
