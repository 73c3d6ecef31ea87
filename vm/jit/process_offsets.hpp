// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

#include "vm/code/module.hpp"
#include "vm/process/process.hpp"
#include "vm/term/fun.hpp"
#include "vm/term/layout.hpp"

/// Where machine code finds parts of processes, messages and exports, in bytes.
namespace vmrun::jit {

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Winvalid-offsetof"  // gcc and clang lay it out like any other class
inline constexpr SWord kHeapTop = offsetof(Process, heap.top), kHeapStop = offsetof(Process, heap.stop),
                       kReductions = offsetof(Process, reductions), kSelfId = offsetof(Process, id),
                       kInstruction = offsetof(Process, ip), kObserved = offsetof(Process, observed),
                       kFragments = offsetof(Process, heap.fragments),
                       kMailboxSave = offsetof(Process, mailbox.save), kPeeked = offsetof(Process, peeked);
inline constexpr SWord kFragmentNext = offsetof(Fragment, next),
                       kFragmentUsed = offsetof(Fragment, used_words),
                       kFragmentMessage = offsetof(Fragment, message);
inline constexpr SWord kExportAddress = offsetof(Export, address);
// From the tagged word of a fun on: its parts, and its n-th free variable.
inline constexpr SWord kFunEntry = offsetof(FunObject, entry) - Term::kBoxedTag,
                       kFunArity = offsetof(FunObject, arity) - Term::kBoxedTag,
                       kFreeCount = offsetof(FunObject, free_count) - Term::kBoxedTag;
inline constexpr SWord free_variable(std::size_t n) {
  return static_cast<SWord>(sizeof(FunObject) + n * sizeof(Word)) - Term::kBoxedTag;
}
inline constexpr SWord kFunAddress = offsetof(FunEntry, address), kFunHot = offsetof(FunEntry, hot);
#pragma GCC diagnostic pop

}  // namespace vmrun::jit
