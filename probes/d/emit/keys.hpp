// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "probes/d/emit/code.hpp"
#include "probes/d/emit/expression_evaluator.hpp"
#include "probes/d/expressions/symbols.hpp"
#include "probes/d/syntax/c_types.hpp"

/// Keys of aggregations and associative arrays. Between the pushing of keys and their use, no other
/// keys may be pushed. So everything that has to be evaluated is evaluated before.
namespace vmrun::d::lang {

/// An element of a key, already evaluated.
struct Key {
  enum { kInteger, kText, kArgument, kBuiltin, kTerm, kStack, kBytes } kind;
  unsigned r = 0;
  std::uint32_t number = 0;
};

class Keys {
 public:
  Keys(Code& code, const Types& types, const Symbols& symbols, const Options& options, Evaluator& evaluator)
      : code_(code), types_(types), symbols_(symbols), options_(options), evaluator_(evaluator) {}

  /// array: a reference to the array that has these keys; null for the keys of an aggregation. The
  /// registers that it takes stay taken.
  std::vector<Key> prepare(const std::vector<Node*>& nodes, const Node* array);
  void push(const std::vector<Key>& keys);
  /// Returns how many frames a call of ustack() or jstack() asks for.
  std::uint32_t frames(const Node* call) const;

 private:
  Key prepare_one(const Node* n, bool in_aggregation, bool as_it_is);

  Code& code_;
  const Types& types_;
  const Symbols& symbols_;
  const Options& options_;
  Evaluator& evaluator_;
};

}  // namespace vmrun::d::lang
