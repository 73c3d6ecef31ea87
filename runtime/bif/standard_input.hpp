#pragma once

#include <mutex>

#include <sys/types.h>

/// Who reads standard input: the program, by a thread that waits for it, or the menu of the break
/// key, which must get what is typed while it is shown.
namespace vmrun {

/// read(2) of descriptor 0 for the program: waits, takes nothing while somebody holds the lock.
ssize_t read_standard_input(void* bytes, std::size_t most);
/// Held while somebody else reads.
std::mutex& standard_input_lock();

}  // namespace vmrun
