// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>
#include <cstring>
#include <span>

#include "vm/term/term.hpp"

/// Functions that take much time have JIT code (vm/hot), which runs in slices that are not traced.
/// It can be entered at the function's entry and behind calls, where these return to. At such a
/// place the operation `hot` stands in place of the instruction's own, and the word in front of the
/// instruction holds the address of the JIT code. Everything else in the function stays as it is: a
/// process may go on in the interpreter or in JIT code at any such place, return addresses are the
/// same, and code is read as before with operation_at.
namespace vmrun {

struct Process;
struct Module;

/// Returns the JIT code of an instruction whose operation is `hot`.
inline const void* hot_code(const Word* at) {
  return reinterpret_cast<const void*>(__atomic_load_n(at - 1, __ATOMIC_RELAXED));
}
/// The operation that `hot` replaces: it is kept in front of the JIT code.
inline std::uint16_t operation_as_it_was(const void* code) {
  std::uint16_t operation;
  std::memcpy(&operation, static_cast<const char*>(code) - 5, sizeof operation);
  return operation;
}

/// What the JIT compiler has to know of the interpreter's loop. It is never freed.
struct LoopView {
  const void* const* cases;  // opcode handlers of slices that are not traced but count returns
  std::span<const void* const> often_called;  // helpers that opcode handlers call on their common paths
};

/// The LoopView of this build, once a process has begun.
inline constinit std::atomic<const LoopView*> loop_view{nullptr};

}  // namespace vmrun
