// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "vm/term/term.hpp"

/// Limits that loaded code is checked against, so that running code need not check.
namespace vmrun {

inline constexpr Word kMaxXRegisters = 1024;
inline constexpr Word kMaxYRegisters = 1024;
inline constexpr Word kMaxFloatRegisters = 1024;
inline constexpr Word kMaxHeapNeed = 1u << 24;

}  // namespace vmrun
