// SPDX-License-Identifier: Apache-2.0
#include "probes/d/statements/clause_order.hpp"

namespace vmrun::d::lang {

void ClauseOrder::record(const Node* action, bool destructive) {
  if (committed_) fail(action->place, "D_DREC_COMM", "data-recording actions may not follow commit( )");
  if (destructive && speculating_)
    fail(action->place, "D_ACT_SPEC", action->text + "( ) may not follow speculate( )");
  recorded_ = records_ = true;
}

void ClauseOrder::speculate(Place place) {
  if (speculating_) fail(place, "D_SPEC_SPEC", "speculate( ) may not follow speculate( )");
  if (committed_) fail(place, "D_SPEC_COMM", "speculate( ) may not follow commit( )");
  if (recorded_) fail(place, "D_SPEC_DREC", "speculate( ) may not follow data-recording actions");
  speculating_ = records_ = true;
}

void ClauseOrder::commit(Place place) {
  if (recorded_) fail(place, "D_COMM_DREC", "commit( ) may not follow data-recording actions");
  committed_ = true;
}

void ClauseOrder::aggregate(Place place) const {
  if (committed_) fail(place, "D_AGG_COMM", "aggregating actions may not follow commit( )");
  if (speculating_) fail(place, "D_AGG_SPEC", "aggregating actions may not follow speculate( )");
}

void ClauseOrder::exit(Place place) const {
  if (speculating_) fail(place, "D_EXIT_SPEC", "exit( ) may not follow speculate( )");
}

void ClauseOrder::join(const ClauseOrder& other) {
  committed_ |= other.committed_;
  speculating_ |= other.speculating_;
  recorded_ |= other.recorded_;
  records_ |= other.records_;
}

}  // namespace vmrun::d::lang
