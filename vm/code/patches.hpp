#pragma once

#include <atomic>
#include <mutex>
#include <span>
#include <vector>

#include "vm/term/term.hpp"

/// Instructions in whose place stands the operation `probed`: what is to happen there happens, then
/// the instruction itself is executed. Only the operation's 16 bits are stored, while other threads
/// run the code: the operands stay where they are. What stood there is in one table for the VM,
/// which is replaced as a whole.
///
/// Code in memory is read with operation_at and changed with set_operations, by whoever is no
/// interpreter.
namespace vmrun {

struct Patch {
  const Word* at = nullptr;                       // the instruction; nullptr: none
  std::uint32_t function = 0;                     // number of the function that fires (function_probes.hpp)
  std::uint16_t operation = 0;                    // what stood there
  std::uint8_t fires = 0;                         // bits:
  static constexpr std::uint8_t kEntry = 1;       // before it, unless it is executed once more
  static constexpr std::uint8_t kEnd = 2;         // the end of the call that begins with it is awaited
  static constexpr std::uint8_t kInside = 4;      // its traced copy is to be executed
  static constexpr std::uint8_t kCalled = 8;      // that asks here whether a built-in's entry fires,
  static constexpr std::uint8_t kCalledEnd = 64;  // and whether the end of its call is awaited
  // The same as kEntry and kCalled for breakpoints (breakpoint_reached):
  static constexpr std::uint8_t kBreak = 16, kCalledBreak = 32;
};
static_assert(sizeof(Patch) == 16);

/// What is patched there. Without a lock, while the thread holds an epoch.
Patch patch_at(const Word* at);
/// The operation of an instruction, whether or not it is patched. As patch_at.
std::uint16_t operation_at(const Word* at);
bool is_patched(const Word* at);

/// Where an instruction's operation is. For who changes it, with the lock; others read it with
/// operation_at.
inline std::atomic_ref<std::uint16_t> operation_word(const Word* at) {
  return std::atomic_ref(*reinterpret_cast<std::uint16_t*>(const_cast<Word*>(at)));
}
/// Held by whoever changes operations.
std::mutex& changing_operations();

struct NewOperation {
  Word* at;
  std::uint16_t operation;
};
/// Changes the instructions themselves, whether or not they are patched. Any thread; while others
/// may go through the code from one instruction to the next it is replace_operations
/// (function_probes.hpp) that is to be called.
void set_operations(std::span<const NewOperation> all);

/// From now on these are all patches (`operation` need not be filled in). The caller holds a lock
/// against others who call this. The table that was there before: the caller retires it
/// (retire_patches), for somebody may be looking at it.
struct PatchTable;
[[nodiscard]] const PatchTable* set_patches(const std::vector<Patch>& patches);
/// Those there are. The same lock.
std::vector<Patch> all_patches();
/// Without the lock. Nothing is done for nullptr. It is freed by a later call, once nobody can look
/// at it: of tables that are replaced again and again there are only ever a few.
void retire_patches(const PatchTable* table);
/// Nobody looks at it any more.
void free_patches(const PatchTable* table);

}  // namespace vmrun
