#include "vm/heap/fragment.hpp"

#include "vm/base/allocate.hpp"
#include "vm/heap/copy.hpp"
#include "vm/probes/fire.hpp"

namespace vmrun {

Fragment* new_fragment(Word words) {
  Fragment* f = Fragment::create(words);
  if (!f) [[unlikely]]
    out_of_memory("a message", words * sizeof(Term));
  return f;
}

namespace {

[[gnu::always_inline]] inline Term copy_unannounced(Fragment& f, Term t, Literals literals) {
  Term* hp = f.words + f.used_words;
  const Term copy = copy_term(t, hp, f.off_heap, literals);
  f.used_words = static_cast<std::uint32_t>(hp - f.words);
  assert(f.used_words <= f.capacity_words);
  return copy;
}

// A function of its own: what is done when someone looks would cost the others.
[[gnu::cold, gnu::noinline]] Term copy_watched(Fragment& f, Term t, Literals literals) {
  probe::fire_copy_struct(size_words(t));
  return copy_unannounced(f, t, literals);
}

}  // namespace

Term copy_into(Fragment& f, Term t, Literals literals) {
  if (t.is_immed()) return t;
  if (probe::copy_struct_enabled()) [[unlikely]]
    return copy_watched(f, t, literals);
  return copy_unannounced(f, t, literals);
}

}  // namespace vmrun
