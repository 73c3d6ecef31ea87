// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The linked-in driver `spawn`: ports that are programs (open_port with {spawn, Command} and
/// {spawn_executable, File}).
namespace vmrun {

/// Called once, before processes run.
void register_spawn_driver();

}  // namespace vmrun
