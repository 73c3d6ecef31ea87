#include "runtime/bif/support.hpp"
#include "vm/heap/copy.hpp"

// Sizes of terms as erts_debug tells them: words, immediates take none.
namespace vmrun {

/// As a copy without sharing takes.
Term bif_erts_debug_flat_size_1(Process& p, const Term* a) {
  const Word words = size_words(a[0]);
  charge(p, static_cast<SWord>(words));
  return Term::small(static_cast<SWord>(words));
}

/// Whether two terms are the same word: the same immediate or the same object.
Term bif_erts_debug_same_2(Process&, const Term* a) { return bool_term(a[0].raw() == a[1].raw()); }

}  // namespace vmrun
