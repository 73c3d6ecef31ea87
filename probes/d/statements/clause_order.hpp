// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "probes/d/syntax/tree.hpp"

/// Checks what may come before and after speculate() and commit() in a clause.
namespace vmrun::d::lang {

class ClauseOrder {
 public:
  /// An action records data. destructive: it also has a side effect.
  void record(const Node* action, bool destructive);
  void speculate(Place place);
  void commit(Place place);
  void aggregate(Place place) const;
  void exit(Place place) const;
  /// Whether the clause makes records of its own.
  bool records() const { return records_; }
  /// Called after if, when one branch or the other has run. other: the order after the other
  /// branch.
  void join(const ClauseOrder& other);

 private:
  bool committed_ = false, speculating_ = false, recorded_ = false, records_ = false;
};

}  // namespace vmrun::d::lang
