// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "runtime/bif/reduction_budget.hpp"
#include "vm/heap/heap.hpp"
#include "vm/term/iodata.hpp"

/// Iodata as one bit string.
namespace vmrun {

/// Returns the size in bits, or -1 when the term is not iodata or the steps are used up.
/// whole_bytes: bit strings must be binaries.
SWord iodata_bits(Term t, bool whole_bytes, ReductionBudget& steps);

/// Returns all of it as one bit string, or the non-value when the term is not iodata or the steps
/// are used up. whole_bytes: as above.
Term iodata_to_bitstring(Heap& heap, Term t, bool whole_bytes, ReductionBudget& steps);

}  // namespace vmrun
