#pragma once

#include "runtime/bif/reduction_budget.hpp"
#include "vm/heap/heap.hpp"
#include "vm/term/iodata.hpp"

/// Iodata as one bit string.
namespace vmrun {

/// Size in bits, or -1 when it is none, or when the steps are used up. whole_bytes: bit strings
/// must be binaries.
SWord iodata_bits(Term t, bool whole_bytes, ReductionBudget& steps);

/// All of it as one bit string; the non-value when it is none, or when the steps are used up. Same
/// restriction.
Term iodata_to_bitstring(Heap& heap, Term t, bool whole_bytes, ReductionBudget& steps);

}  // namespace vmrun
