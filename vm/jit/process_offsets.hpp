// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

#include "vm/code/module.hpp"
#include "vm/process/process.hpp"

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
#pragma GCC diagnostic pop

}  // namespace vmrun::jit
