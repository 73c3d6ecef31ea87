// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "probes/engine/session.hpp"
#include "probes/engine/state.hpp"

/// Clauses that do the same at every firing of a probe: they take fixed values into aggregations,
/// at fixed keys, and do nothing else (`{ @[probename] = count(); }`). Of such a firing, only its
/// number is of interest. A host that counts firings saves running the program: the session runs
/// the clause once, beforehand, and takes that result in as often as the probe has fired. Only the
/// controlling thread uses what is here.
namespace vmrun::d {

/// Whether a clause is one of those, wherever it fires.
bool only_counts(const Clause& clause);

/// Whether it suffices to learn how often a probe has fired when the script asks or ends. That is
/// so when nothing in the program ends tracing in the middle of the target's firings.
bool can_count_later(const Program& program);

class Rehearsal {
 public:
  explicit Rehearsal(Shared& shared) : thread_(shared) {}
  /// Returns false when there is no memory.
  bool open() { return thread_.open(0); }
  /// Adds to `effect` what a clause that only counts takes in at one firing of the probe. Returns
  /// false at a fault, which then each firing has to report.
  bool run(const Clause& clause, std::uint32_t probe, std::vector<Element>& effect);

 private:
  Thread thread_;
};

}  // namespace vmrun::d
