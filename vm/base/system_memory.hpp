#pragma once

#include <cstddef>

namespace vmrun {

/// Bytes that the allocator holds of the system's memory, in use or kept for later; 0: not known.
/// Any thread.
std::size_t bytes_from_system();

}  // namespace vmrun
