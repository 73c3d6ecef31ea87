// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "probes/d/expressions/tree_nodes.hpp"
#include "probes/d/syntax/d_parser.hpp"

/// The translators that a script declares.
namespace vmrun::d::lang {

class Translators {
 public:
  Translators(Types& types, Nodes& nodes) : types_(types), nodes_(nodes) {}

  void declare(Place place, TypeId to, TypeId from, const std::string& variable,
               std::vector<Listener::Member> members);
  /// Returns the value of xlate<T>(x).member, where x is checked. The value itself is not checked
  /// yet. type: set to that of the member.
  Node* member(const Node* n, Node* xlate, TypeId& type);

 private:
  struct Translator {
    TypeId to, from;
    std::string variable;
    std::vector<Listener::Member> members;
  };
  bool takes(const Translator& t, TypeId from) const;

  Types& types_;
  Nodes& nodes_;
  std::vector<Translator> translators_;
};

}  // namespace vmrun::d::lang
