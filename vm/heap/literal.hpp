#pragma once

#include "vm/heap/heap.hpp"

/// The literal area: one reserved range of addresses in which modules' constants live outside all
/// heaps. Testing an address is one subtraction and one compare, so collections and copies pass
/// literals by. Allocation is thread-safe; words are never given back.
namespace vmrun {

extern Word literal_base, literal_bytes;  // set once, before the first process
void init_literal_area();                 // idempotent

inline bool is_literal(const Term* p) { return reinterpret_cast<Word>(p) - literal_base < literal_bytes; }

/// Copies a term into the literal area (immediates come back as they are). Thread-safe.
Term make_literal(Term t);

}  // namespace vmrun
