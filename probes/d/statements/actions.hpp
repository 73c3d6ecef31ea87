// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "probes/d/script/action_table.hpp"
#include "probes/d/statements/aggregations.hpp"
#include "probes/d/statements/clause_order.hpp"
#include "probes/d/statements/fields.hpp"
#include "probes/d/statements/formatted.hpp"

/// Statements that are actions. It enters what they record into the script, and knows what came
/// before in the current clause.
namespace vmrun::d::lang {

class Actions {
 public:
  Actions(const Types& types, Nodes& nodes, Conversions& conversions, Expressions& expressions,
          Fields& fields, Formatted& formatted, Aggregations& aggregations, Script& script)
      : types_(types),
        nodes_(nodes),
        conversions_(conversions),
        expressions_(expressions),
        fields_(fields),
        formatted_(formatted),
        aggregations_(aggregations),
        script_(script) {}

  /// The order of the current clause; begin() resets it.
  ClauseOrder& order() { return order_; }
  /// clause: its number.
  void begin(std::size_t clause);
  /// call: one for which is_action holds.
  void statement(Node* call);

 private:
  struct Check;
  static const Check kChecks[];

  ActionInfo& begin_record(Node* call, const ActionRow& row);
  void speculation(Node* call);
  void formatted(ActionInfo& info, Node* call);
  void printa(ActionInfo& info, Node* call);
  void value(ActionInfo& info, Node* call);
  void tracemem(ActionInfo& info, Node* call);
  void stack(ActionInfo& info, Node* call);
  void on_aggregation(ActionInfo& info, Node* call);
  void setopt(ActionInfo& info, Node* call);
  void exit(ActionInfo& info, Node* call);
  void nothing(ActionInfo& info, Node* call);

  const Types& types_;
  Nodes& nodes_;
  Conversions& conversions_;
  Expressions& expressions_;
  Fields& fields_;
  Formatted& formatted_;
  Aggregations& aggregations_;
  Script& script_;
  ClauseOrder order_;
  std::size_t clause_ = 0;
};

}  // namespace vmrun::d::lang
