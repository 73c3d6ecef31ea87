// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>
#include <vector>

#include "probes/d/script/script.hpp"
#include "probes/d/statements/clause_order.hpp"
#include "probes/d/statements/fields.hpp"

/// The aggregations of a script. The first use of each says what its function, parameters and keys
/// are. It enters them into the script.
namespace vmrun::d::lang {

class Aggregations {
 public:
  Aggregations(const Types& types, Nodes& nodes, Conversions& conversions, Expressions& expressions,
               Fields& fields, Script& script, Failures& failures)
      : types_(types),
        nodes_(nodes),
        conversions_(conversions),
        expressions_(expressions),
        fields_(fields),
        script_(script),
        failures_(failures) {}

  /// Checks @name[keys] = function(...).
  void statement(Statement& s, const ClauseOrder& order);
  /// Returns the number of the aggregation that an action is given. who: how errors name the
  /// argument.
  std::uint32_t argument(const Node* n, const char* tag_argument, const char* tag_unknown,
                         const std::string& who) const;

 private:
  [[noreturn]] void unknown(const Node* n, const char* tag) const;
  void need_function(const Statement& s);
  std::vector<Field> keys(const Node* target, std::vector<Node*>& keys);
  void compare_keys(const Node* target, std::vector<Node*>& keys, const std::vector<Field>& given,
                    const std::vector<Field>& known);
  void value(Aggregation& a, Node* function, bool is_new);

  const Types& types_;
  Nodes& nodes_;
  Conversions& conversions_;
  Expressions& expressions_;
  Fields& fields_;
  Script& script_;
  Failures& failures_;
  std::map<std::string, std::uint32_t> numbers_;  // numbers in Program::aggregations
};

}  // namespace vmrun::d::lang
