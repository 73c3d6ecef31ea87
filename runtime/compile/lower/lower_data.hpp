// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "runtime/compile/lower/lower_context.hpp"

/// Construction of lists, tuples, maps and binaries; constant ones become literals. One
/// compilation, one thread.
namespace vmrun::compile::lower {

/// Make literals, whose words live in the arena.
Term literal_cons(NodeArena& a, Term head, Term tail);
Term literal_tuple(NodeArena& a, std::span<const Term> elements);

class LowerData : LowerPart {
 public:
  using LowerPart::LowerPart;
  Arg cons(core::Expr* e);
  Arg tuple(core::Tuple& t);
  Arg map(core::Map& m);
  Arg record(core::Record& r);
  Arg binary(core::Binary& b);

 private:
  Arg bad_size(Loc loc);
  bool literal_binary(core::Binary& b, Term& out);
};

}  // namespace vmrun::compile::lower
