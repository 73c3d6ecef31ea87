// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string_view>

/// Floats with a base, as `16#fe.8#e-2`. Pure function; any thread.
namespace vmrun::compile {

/// Returns the double nearest to `digits` times `base` to the power of `exponent`; nothing if that
/// is too large. digits: of that base, with one point.
std::optional<double> based_float(std::string_view digits, unsigned base, std::string_view exponent);

}  // namespace vmrun::compile
