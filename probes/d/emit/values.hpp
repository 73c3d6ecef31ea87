// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "probes/d/emit/arithmetic.hpp"
#include "probes/d/emit/expression_evaluator.hpp"
#include "probes/d/emit/keys.hpp"
#include "probes/d/emit/locations.hpp"
#include "probes/d/emit/term_code.hpp"

/// Makes the code of expressions.
namespace vmrun::d::lang {

class Values : public Evaluator {
 public:
  Values(Code& code, const Types& types, const Symbols& symbols, const Options& options)
      : code_(code),
        types_(types),
        arithmetic_(code, types),
        keys_(code, types, symbols, options, *this),
        locations_(code, types, symbols, keys_, arithmetic_, *this),
        terms_(code, types, *this) {}

  unsigned value(const Node* n) override;
  unsigned term(const Node* n) override { return terms_.term(n); }
  /// Returns a register that is 0 or not. && and || need not leave 1 in it.
  unsigned condition(const Node* n);
  Keys& keys() { return keys_; }

 private:
  // Each function leaves its value in r, which is the lowest free register.
  void value_in(const Node* n, unsigned r);
  void reference(const Node* n, unsigned r);
  void global_or_self(const Node* n, unsigned r);
  void conditional(const Node* n, unsigned r);
  void unary(const Node* n, unsigned r);
  void address(const Node* n, unsigned r);
  void increment(const Node* n, unsigned r);
  void binary(const Node* n, unsigned r);
  void logical(const Node* n, unsigned r);
  void assign(const Node* n, unsigned r);
  void assign_with(const Node* n, unsigned r);
  void call(const Node* n, unsigned r);
  bool call_of_term(const Node* n, unsigned r);

  Code& code_;
  const Types& types_;
  Arithmetic arithmetic_;
  Keys keys_;
  Locations locations_;
  Terms terms_;
};

}  // namespace vmrun::d::lang
