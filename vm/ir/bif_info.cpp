// SPDX-License-Identifier: Apache-2.0
#include "vm/ir/bif_info.hpp"

#include <mutex>
#include <unordered_map>

#include "vm/term/atom.hpp"

namespace vmrun::ir {

namespace {

BifInfo kBifs[] = {
#include "vm/ir/bif_info_generated.inc"
};

using Table = std::unordered_map<std::uint64_t, const BifInfo*>;

Table make_table() {
  Table table;
  for (BifInfo& b : kBifs) {
    b.atom = intern_atom(b.name);
    table[b.atom.raw() << 4 | b.arity] = &b;
  }
  return table;
}

}  // namespace

const BifInfo* find_erlang_function(Term name, std::uint32_t arity) {
  static const Table table = make_table();
  if (arity > 15) return nullptr;
  const auto it = table.find(name.raw() << 4 | arity);
  return it == table.end() ? nullptr : it->second;
}

const BifInfo* find_bif(Term name, std::uint32_t arity) {
  const BifInfo* b = find_erlang_function(name, arity);
  return b && b->inlined ? b : nullptr;
}

}  // namespace vmrun::ir
