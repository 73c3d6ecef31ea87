#pragma once

#include <string>
#include <vector>

#include "probes/d/script/script.hpp"

/// What somebody is told whose script means something else than it says.
namespace vmrun::d {

/// Says which probes to use to a script that pairs local- or global-function-entry with
/// function-return by a self-> variable. A function that ends in a call of another one does not
/// fire function-return, so such pairs are wrong, or there are none. Empty: it does no such thing.
/// probes: the target's.
std::string advice_on_returns(const Program& program, const std::vector<ProbeInfo>& probes);

}  // namespace vmrun::d
