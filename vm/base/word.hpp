// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

/// The machine's word: what a register, a term and a heap cell hold.
namespace vmrun {

using Word = std::uint64_t;
using SWord = std::int64_t;

}  // namespace vmrun
