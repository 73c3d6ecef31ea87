#pragma once

#include <cstdint>
#include <optional>

/// How large a terminal is, asked with port_control/3 of the ports that show on one.
namespace vmrun::terminal {

/// The command, of `tty_sl` and of `fd`; the answer is these two in the machine's order of bytes.
inline constexpr unsigned kControls = 0x018b0900, kWindowSize = kControls + 100;

struct WindowSize {
  std::uint32_t columns = 80, rows = 24;
};

/// Nothing: the descriptor is no terminal, or one that knows no size.
std::optional<WindowSize> window_size(int descriptor);

}  // namespace vmrun::terminal
