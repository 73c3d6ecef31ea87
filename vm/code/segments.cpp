// SPDX-License-Identifier: Apache-2.0
#include "vm/code/segments.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

#include "vm/code/exceptions.hpp"
#include "vm/process/bif.hpp"
#include "vm/term/bits_fields.hpp"
#include "vm/term/map.hpp"

namespace vmrun {
namespace {

/// What is wrong, and the term that shows it.
using Complaint = std::pair<const char*, Term>;

Complaint complaint(const SegmentReader& s) {
  Word bits = 0;
  const bool utf =
      s.type == BinarySegment::kUtf8 || s.type == BinarySegment::kUtf16 || s.type == BinarySegment::kUtf32;
  if (!utf && !s.whole && field_bits(s.size, s.unit, &bits) != FieldSize::kOk) return {"size", s.size};
  if (s.type == BinarySegment::kFloat) {
    if (bits != 16 && bits != 32 && bits != 64) return {"invalid", Term::small(static_cast<SWord>(bits))};
    return {s.source.is_number() ? "no_float" : "type", s.source};
  }
  if (utf || s.type == BinarySegment::kInteger || !s.source.is_bitstring()) return {"type", s.source};
  return {s.whole ? "unit" : "short", s.source};
}

Term refuse(Process& p, Term reason, const SegmentReader& s, Complaint why) {
  static const Term cause = intern_atom("cause"), function = intern_atom("function"),
                    module = intern_atom("module");
  const bool append = s.type >= BinarySegment::kAppend;
  const Term type = intern_atom(append ? "binary" : kSegmentNames[static_cast<unsigned>(s.type)]),
             what = intern_atom(why.first);
  raise_error(p, reason);
  Term* hp = p.heap.alloc(5 + 3);
  Term pairs[] = {cause,    make_tuple(hp, Term::small(s.position), type, what, why.second),
                  function, intern_atom("format_bs_fail"),
                  module,   intern_atom("erl_erts_errors")};
  const Term map = map_from_pairs(p.heap, pairs, std::size(pairs) / 2);
  p.exception_trace = make_tuple(hp, atoms::none, map);
  return kNonValue;
}

}  // namespace

Term raise_bad_segment(Process& p, const SegmentReader& s) {
  return refuse(p, atoms::badarg, s, complaint(s));
}
Term raise_large_segment(Process& p, const SegmentReader& s) {
  return refuse(p, atoms::system_limit, s, {"size", s.whole ? s.source : s.size});
}

}  // namespace vmrun
