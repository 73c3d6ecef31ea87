// SPDX-License-Identifier: Apache-2.0
#include "vm/heap/text.hpp"

#include "vm/heap/build.hpp"
#include "vm/term/bits_fields.hpp"

namespace vmrun {

Term code_point_list(Heap& heap, std::string_view utf8) {
  MatchContext m{};
  m.base = reinterpret_cast<const std::uint8_t*>(utf8.data());
  m.size_bits = utf8.size() * 8;
  ListBuilder list(heap);
  while (bits_left(m)) {
    const Word at = m.offset_bits;
    Term c = bs_get_utf8(m);
    if (!c) {
      c = Term::small(m.base[at / 8]);
      m.offset_bits = at + 8;
    }
    list.add(c);
  }
  return list.finish();
}

}  // namespace vmrun
