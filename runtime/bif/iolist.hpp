#pragma once

#include "vm/heap/heap.hpp"
#include "vm/term/iodata.hpp"

/// Iodata as one bit string.
namespace vmrun {

/// Size in bits, or -1. whole_bytes: bit strings must be binaries.
SWord iodata_bits(Term t, bool whole_bytes);

/// All of it as one bit string; the non-value when it is none. Same restriction.
Term iodata_to_bitstring(Heap& heap, Term t, bool whole_bytes);

}  // namespace vmrun
