// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <vector>

#include "probes/engine/totals.hpp"
#include "probes/screen/screen_lines.hpp"

/// The totals of machines as the head of a screen. It keeps no state.
namespace vmrun::d {

/// The parts of a head, each of which begins a line of its own.
using HeadParts = std::vector<std::vector<screen::Piece>>;

/// before, now: of each machine, at the beginning and the end of the interval; empty when they are
/// not known. Several machines are added up. What is near its limit, or waits for too few
/// schedulers, has a `!` in front and stands out.
HeadParts head_of(std::span<const Totals> before, std::span<const Totals> now);

}  // namespace vmrun::d
