// SPDX-License-Identifier: Apache-2.0
#include "vm/jit/callees.hpp"

#include "vm/term/compare.hpp"
#include "vm/term/long_compare.hpp"
#include "vm/term/map.hpp"

namespace vmrun::jit {
namespace {

Word get_of_map(Term map, Term key) { return map_get(map, key).raw(); }
Word terms_equal(Term a, Term b) { return equal_exact(a, b); }
Word term_less(Term a, Term b) { return compare_of_any_size(a, b) < 0; }

template <class F>
const void* address(F* function) {
  return reinterpret_cast<const void*>(function);
}

}  // namespace

namespace callees {
const Callee map_get{address(&get_of_map)};
const Callee are_equal{address(&terms_equal)};
const Callee is_less{address(&term_less)};
}  // namespace callees

}  // namespace vmrun::jit
