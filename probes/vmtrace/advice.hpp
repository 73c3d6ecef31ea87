// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "probes/d/script/script.hpp"

/// Advice to a user whose script does something else than it seems to say.
namespace vmrun::d {

/// Advises a script that pairs local- or global-function-entry with function-return by a self->
/// variable, and says which probes to use. A function that ends in a call of another one does not
/// fire function-return, so such pairs are wrong or missing. The result is empty for any other
/// script. probes: the target's.
std::string advice_on_returns(const Program& program, const std::vector<ProbeInfo>& probes);

}  // namespace vmrun::d
