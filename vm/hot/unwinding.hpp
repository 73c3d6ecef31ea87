// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "vm/code/made_code.hpp"

/// Unwinding information of machine code: how gdb and perf find the frame of the interpreter behind
/// it. All code of functions has the same frame, that of Stubs makes it and leaves it (System V ABI
/// for x86-64, "EH frame"; DWARF 5, 6.4).
namespace vmrun {

using FrameSizes = std::span<const HotFunction::FrameSize>;

/// An .eh_frame, for code at a fixed address.
class FrameTable {
 public:
  FrameTable();
  /// Code there has the usual frame, but for these.
  void add(const void* code, std::size_t bytes, FrameSizes sizes);
  /// It is complete.
  std::vector<std::uint8_t> finish() const;

 private:
  std::vector<std::uint8_t> bytes_;
};

/// Appends an .eh_frame, and behind it an .eh_frame_hdr of so many bytes, to code, which may lie
/// anywhere.
inline constexpr std::size_t kUnwindingTableBytes = 20;
void append_unwinding(FrameSizes sizes, std::vector<std::uint8_t>* code);

}  // namespace vmrun
