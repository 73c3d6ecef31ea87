#pragma once

#include <optional>

#include "vm/process/process.hpp"

/// What system_info says of OTP's allocators, for recon_alloc, observer and their like. This
/// machine has one allocator for all, and knows how much it has in use of each kind; what is free
/// in it belongs to no kind, and is divided among them by what they use. Any thread.
namespace vmrun {

/// {allocator, Names}, {allocator_sizes, Names}, where Names is an atom or a list; and with a
/// reference before the names, for an answer by messages {Ref, Scheduler, Answer}, one of each
/// scheduler, the first of which tells of all. Nothing when the item is none of these, or a name
/// none of an allocator. May collect.
std::optional<Term> allocator_item(Process& p, Term item);
/// allocator: {undefined, [], Names, Settings}, as OTP says of one that it was not built with.
Term allocator_settings(Process& p);
/// alloc_util_allocators.
Term allocator_names(Process& p);

}  // namespace vmrun
