// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace vmrun {

/// connect_machine() (vm/machine.hpp), and what runtime/ and probes/attach supply to lower layers.
/// First of all in main, once, before there is another thread.
void connect_runtime();

}  // namespace vmrun
