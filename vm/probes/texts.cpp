// SPDX-License-Identifier: Apache-2.0
#include "vm/probes/texts.hpp"

#include <cstring>

#include "vm/term/bits.hpp"
#include "vm/term/iodata.hpp"

namespace vmrun::probe {

void PidText::other(Term who, const char* absent) {
  BoundedText out(bytes_, kBytes);
  if (who) print_term(out, who);
  else out.put(absent);
}

void FunctionText::other(const FunctionArgument& f) {
  BoundedText out(bytes_, kBytes);
  if (f.module) print_mfa(out, f.module, f.function, f.arity);
  else out.put("<exiting>");
}

bool is_shown_iolist(Term t) {
  if (!t.is_cons_or_nil() && !t.is_bitstring()) return false;
  Word bits = 0;
  const bool is_iolist = walk_iodata(
      t, [&](std::uint8_t) { bits += 8; },
      [&](Term b) {
        bits += bit_size_of(b);
        return bit_size_of(b) % 8 == 0;
      });
  return is_iolist && bits <= kIolistBytes * 8;
}

IolistText::IolistText(Term t) {
  if (!is_shown_iolist(t)) return;
  char* next = bytes_;
  walk_iodata(
      t, [&](std::uint8_t b) { *next++ = static_cast<char>(b); },
      [&](Term binary) {
        const BytesOf bytes(binary);
        std::memcpy(next, bytes.data(), bytes.size());
        next += bytes.size();
        return true;
      });
  *next = 0;
  text_ = bytes_;
}

}  // namespace vmrun::probe
