// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "probes/engine/totals.hpp"

/// The state of this machine in numbers. Only the tracing thread calls it. It stops no process and
/// visits none.
namespace vmrun::attach {

d::Totals machine_totals();

}  // namespace vmrun::attach
