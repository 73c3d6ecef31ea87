// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <mutex>
#include <span>
#include <vector>

#include "vm/term/term.hpp"

/// Patched instructions: the operation `probed` stands in their place. First the probe or
/// breakpoint does its work, then the instruction itself is executed. Only the operation's 16 bits
/// are stored while other threads run the code; the operands stay where they are. The original
/// operations are in one table for the VM, which is replaced as a whole.
///
/// Code outside the interpreter reads operations with operation_at and changes them with
/// set_operations.
namespace vmrun {

struct Patch {
  const Word* at = nullptr;                       // the instruction; nullptr: none
  std::uint32_t function = 0;                     // number of the function that fires (function_probes.hpp)
  std::uint16_t operation = 0;                    // what stood there
  std::uint8_t fires = 0;                         // bits:
  static constexpr std::uint8_t kEntry = 1;       // fires before it, unless it is executed once more
  static constexpr std::uint8_t kEnd = 2;         // the end of the call that begins with it is awaited
  static constexpr std::uint8_t kInside = 4;      // the traced copy of the instruction is to be executed
  static constexpr std::uint8_t kCalled = 8;      // it asks here whether a built-in's entry fires,
  static constexpr std::uint8_t kCalledEnd = 64;  // and whether the end of its call is awaited
  // As kEntry and kCalled, for breakpoints (breakpoint_reached):
  static constexpr std::uint8_t kBreak = 16, kCalledBreak = 32;
};
static_assert(sizeof(Patch) == 16);

/// Returns the patch at this instruction. It takes no lock; the thread must hold an epoch.
Patch patch_at(const Word* at);
/// Returns the operation of an instruction, whether or not it is patched. For threads see patch_at.
std::uint16_t operation_at(const Word* at);
bool is_patched(const Word* at);

/// Returns the place of an instruction's operation. A thread that changes it holds the lock; other
/// threads read it with operation_at.
inline std::atomic_ref<std::uint16_t> operation_word(const Word* at) {
  return std::atomic_ref(*reinterpret_cast<std::uint16_t*>(const_cast<Word*>(at)));
}
/// Held while operations are changed.
std::mutex& changing_operations();

struct NewOperation {
  Word* at;
  std::uint16_t operation;
};
/// Changes the instructions themselves, whether or not they are patched. Any thread. While other
/// threads may go through the code from one instruction to the next, call replace_operations
/// (function_probes.hpp) instead.
void set_operations(std::span<const NewOperation> all);

/// Replaces all patches (`operation` need not be filled in). The caller holds a lock against other
/// calls of this function. Returns the former table; the caller retires it (retire_patches), since
/// other threads may be reading it.
struct PatchTable;
[[nodiscard]] const PatchTable* set_patches(const std::vector<Patch>& patches);
/// Returns all patches, under that lock.
std::vector<Patch> all_patches();
/// Called without the lock. nullptr does nothing. A later call frees the table, once no thread can
/// be reading it; so only a few tables exist at a time, however often they are replaced.
void retire_patches(const PatchTable* table);
/// Frees the table. No thread reads it any more.
void free_patches(const PatchTable* table);

}  // namespace vmrun
