// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include "vm/process/process.hpp"

/// What system_info says about OTP's allocators, for recon_alloc, observer and similar tools. This
/// machine has one allocator for all kinds, and knows how much of each kind is in use. Free memory
/// belongs to no kind; it is divided among them in proportion to their use. Any thread.
namespace vmrun {

/// Answers {allocator, Names} and {allocator_sizes, Names}, where Names is an atom or a list. With
/// a reference in front of the names it answers by messages {Ref, Scheduler, Answer}, one for each
/// scheduler; the first one holds all the information. Returns nothing for another item, or when a
/// name is not that of an allocator. May collect.
std::optional<Term> allocator_item(Process& p, Term item);
/// Returns {undefined, [], Names, Settings}, the answer to `allocator` of an OTP that was built
/// without the C library's allocator.
Term allocator_settings(Process& p);
/// Answers alloc_util_allocators.
Term allocator_names(Process& p);

}  // namespace vmrun
