// SPDX-License-Identifier: Apache-2.0
#include "vm/trace/heap_sizes.hpp"

#include <iterator>

namespace vmrun {

Term heap_sizes(const Process& p, Word messages, Heap& out) {
  const Heap& h = p.heap;
  const auto size = [](const Term* from, const Term* to) { return static_cast<SWord>(to - from); };
  const struct {
    Term name;
    SWord value;
  } items[] = {
      {atoms::old_heap_block_size, size(h.old_start, h.old_end)},
      {atoms::heap_block_size, static_cast<SWord>(h.block_words())},
      {atoms::mbuf_size, static_cast<SWord>(h.fragment_words + messages)},
      {atoms::recent_size, size(h.high_water, h.top)},
      {atoms::stack_size, static_cast<SWord>(h.stack_words())},
      {atoms::old_heap_size, size(h.old_start, h.old_top)},
      {atoms::heap_size, static_cast<SWord>(h.used_words())},
      {atoms::bin_vheap_size, static_cast<SWord>(h.off_heap_words)},
      {atoms::bin_vheap_block_size, static_cast<SWord>(h.off_heap_limit_words)},
      {atoms::bin_old_vheap_size, static_cast<SWord>(h.old_off_heap_words)},
      {atoms::bin_old_vheap_block_size, static_cast<SWord>(h.old_off_heap_limit_words)},
  };
  Term list = Term::nil();
  for (std::size_t i = std::size(items); i-- > 0;) {
    Term* hp = out.alloc(5);
    const Term pair = make_tuple(hp, items[i].name, Term::small(items[i].value));
    list = make_cons(hp, pair, list);
  }
  return list;
}

}  // namespace vmrun
