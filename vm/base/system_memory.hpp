// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

namespace vmrun {

/// Returns how many bytes of the system's memory the allocator holds, in use or kept for later; 0:
/// not known. Any thread.
std::size_t bytes_from_system();

}  // namespace vmrun
