#pragma once

/// The linked-in driver `fd`: ports on descriptors the machine was started with (open_port with
/// {fd, In, Out}).
namespace vmrun {

/// Once, before processes run.
void register_fd_driver();

}  // namespace vmrun
