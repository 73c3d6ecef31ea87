// SPDX-License-Identifier: Apache-2.0
#include "runtime/bif/support.hpp"

#include "vm/base/utf8.hpp"
#include "vm/term/bits_fields.hpp"

namespace vmrun {

Term byte_list(Heap& heap, const std::uint8_t* bytes, Word count, Term tail) {
  if (count == 0) return tail;
  Term* cells = heap.alloc(2 * count);
  for (Word i = 0; i < count; ++i) {
    cells[2 * i] = Term::small(bytes[i]);
    cells[2 * i + 1] = Term::list(cells + 2 * i + 2);
  }
  cells[2 * count - 1] = tail;
  return Term::list(cells);
}

Term text_binary(Heap& heap, std::string_view bytes) { return make_binary(heap, bytes.data(), bytes.size()); }

bool list_to_utf8(Term list, std::string* out) {
  for (; list.is_list(); list = list.tail()) {
    if (!is_unicode_scalar(list.head())) return false;
    append_utf8(*out, static_cast<std::uint32_t>(list.head().small_value()));
  }
  return list.is_nil();
}

bool list_to_bytes(Term list, std::string* out) {
  for (; list.is_list(); list = list.tail()) {
    SWord c;
    if (!small_in_range(list.head(), 0, 255, &c)) return false;
    *out += static_cast<char>(c);
  }
  return list.is_nil();
}

std::size_t utf8_characters(std::string_view text) { return utf8::count(text); }

}  // namespace vmrun
