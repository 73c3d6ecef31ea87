// SPDX-License-Identifier: Apache-2.0
#include "vm/process/core.hpp"

namespace vmrun {

constinit thread_local Core* current_core = nullptr;

}  // namespace vmrun
