#pragma once

#include <vector>

#include "probes/engine/session.hpp"
#include "probes/engine/state.hpp"

/// Clauses that do the same at every firing of a probe: they take fixed values into aggregations,
/// at fixed keys, and nothing else (`{ @[probename] = count(); }`). Of such a firing nothing need
/// be known but that it was. A host that counts firings spares them the program: the session runs
/// the clause once, beforehand, and what that takes in counts as often as the probe has fired.
/// The controlling thread's.
namespace vmrun::d {

/// Whether a clause is one of those, wherever it fires.
bool only_counts(const Clause& clause);

/// Whether it is enough to learn how often a probe has fired when the script asks or ends: nothing
/// in the program ends tracing in the middle of the target's firings.
bool can_count_later(const Program& program);

class Rehearsal {
 public:
  explicit Rehearsal(Shared& shared) : thread_(shared) {}
  /// False: no memory.
  bool open() { return thread_.open(0); }
  /// Adds to `effect` what a clause that only counts takes in at one firing of the probe. False: a
  /// fault, which each firing has to tell of.
  bool run(const Clause& clause, std::uint32_t probe, std::vector<Element>& effect);

 private:
  Thread thread_;
};

}  // namespace vmrun::d
