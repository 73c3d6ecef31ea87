// SPDX-License-Identifier: Apache-2.0
#include "runtime/compile/lower/match_rows.hpp"

#include "vm/term/layout.hpp"

namespace vmrun::compile::lower {

using namespace core;

const Cell* cell_at(const Row& row, const Occ* at) {
  for (std::size_t i = row.cells.size(); i-- > 0;)
    if (row.cells[i].at == at) return &row.cells[i];
  return nullptr;
}

Cell take(Row& row, const Occ* at) {
  for (std::size_t i = row.cells.size(); i-- > 0;) {
    if (row.cells[i].at != at) continue;
    Cell c = row.cells[i];
    row.cells.erase(row.cells.begin() + static_cast<std::ptrdiff_t>(i));
    return c;
  }
  return {};
}

void add(NodeArena& arena, Row& row, Occ* at, const Pat* pat) {
  switch (pat->kind) {
    case PatKind::kWild: return;
    case PatKind::kVar:
      if (pat->as<PVar>().var->uses > 0) row.bindings.push_back({pat->as<PVar>().var, at});
      return;
    case PatKind::kAlias:
      add(arena, row, at, pat->as<PAlias>().right);
      add(arena, row, at, pat->as<PAlias>().left);
      return;
    case PatKind::kLiteral: {
      const Term t = pat->as<PLiteral>().value;
      if (!t.is_bitstring() || t.boxed_ptr()->header_sub() != Term::Sub::kHeapBinary) break;
      // As segments, so that it can be grouped with other binary patterns.
      auto* h = reinterpret_cast<HeapBinary*>(t.boxed_ptr());
      std::vector<PSegment> segs;
      for (Word i = 0; i < h->size_bytes; ++i) {
        segs.push_back(
            {{}, arena.make<PLiteral>(Term::small(h->data[i])), arena.make<Literal>(Loc{}, Term::small(8))});
      }
      pat = arena.make<PBinary>(std::span<const PSegment>(arena.copy(segs)));
      break;
    }
    default: break;
  }
  row.cells.push_back({at, pat});
}

}  // namespace vmrun::compile::lower
