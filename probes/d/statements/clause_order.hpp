#pragma once

#include "probes/d/syntax/tree.hpp"

/// What may not come before and after speculate() and commit() in a clause.
namespace vmrun::d::lang {

class ClauseOrder {
 public:
  /// An action that records data. destructive: and does something besides.
  void record(const Node* action, bool destructive);
  void speculate(Place place);
  void commit(Place place);
  void aggregate(Place place) const;
  void exit(Place place) const;
  /// The clause makes records of its own.
  bool records() const { return records_; }
  /// After if: one branch or the other has come before. other: what the other branch made of it.
  void join(const ClauseOrder& other);

 private:
  bool committed_ = false, speculating_ = false, recorded_ = false, records_ = false;
};

}  // namespace vmrun::d::lang
