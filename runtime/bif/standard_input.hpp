// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <mutex>

#include <sys/types.h>

/// Standard input has two readers: the program, by a thread that waits for input, and the menu of
/// the break key, which must get what is typed while it is shown.
namespace vmrun {

/// read(2) of descriptor 0 for the program. Waits, and reads nothing while another thread holds the
/// lock.
ssize_t read_standard_input(void* bytes, std::size_t most);
/// Held by another reader while it reads.
std::mutex& standard_input_lock();

}  // namespace vmrun
