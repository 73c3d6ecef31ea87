// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>
#include <cstring>

#include "vm/term/term.hpp"

/// Functions that take much time have machine code of their own (vm/jit), which runs in slices that
/// are not traced. It can be entered at the function's entry, behind calls, where these return to,
/// and behind `enterable`. At such a place the operation `machine_code` stands in place of the
/// instruction's own, and the word in front of the instruction holds the address of the code.
/// Everything else in the function stays as it is: a process may go on in the interpreter or in
/// machine code at any such place, return addresses are the same, and code is read as before with
/// operation_at.
namespace vmrun {

/// Returns the machine code of an instruction whose operation is `machine_code`.
inline const void* hot_code(const Word* at) {
  return reinterpret_cast<const void*>(__atomic_load_n(at - 1, __ATOMIC_ACQUIRE));
}
/// The operation that `machine_code` replaces: it is kept in front of the code.
inline std::uint16_t operation_as_it_was(const void* code) {
  std::uint16_t operation;
  std::memcpy(&operation, static_cast<const char*>(code) - 5, sizeof operation);
  return operation;
}

/// The interpreter's loop, once a process has begun: its cases by operation, of slices that are not
/// traced but count returns.
inline constinit std::atomic<const void* const*> loop_cases{nullptr};

}  // namespace vmrun
