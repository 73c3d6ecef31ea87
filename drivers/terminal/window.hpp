// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>

/// The size of a terminal, which port_control/3 asks from the ports that write to one.
namespace vmrun::terminal {

/// The command of `tty_sl` and of `fd`. The answer is columns and rows as two native integers.
inline constexpr unsigned kControls = 0x018b0900, kWindowSize = kControls + 100;

struct WindowSize {
  std::uint32_t columns = 80, rows = 24;
};

/// Returns nothing when the descriptor is not a terminal, or its size is not known.
std::optional<WindowSize> window_size(int descriptor);

}  // namespace vmrun::terminal
