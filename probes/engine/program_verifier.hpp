// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "probes/engine/program.hpp"

/// Decides whether a program may run. Afterwards the interpreter checks only what a run can tell
/// (addresses, divisors, room for keys and records). The verifier checks that every operand is of
/// its kind and in range, that jumps go forward and stay inside, that each register is written
/// before it is read on every path, and that sizes keep within the engine's bounds.
namespace vmrun::d {

inline constexpr unsigned kRegisters = 32, kTermRegisters = 8, kArguments = 12;

/// The most that a session may take. A program that asks for more is refused.
struct Bounds {
  static constexpr std::size_t kStrsize = 64 << 10;
  static constexpr std::size_t kBufsize = 256 << 20, kAggsize = 256 << 20, kDynvarsize = 256 << 20;
  static constexpr std::size_t kAggregatedBytes = 64 << 20;  // of all threads, added up
  static constexpr std::size_t kSpeculations = 1024, kSpecBytes = 64 << 20;
  static constexpr std::size_t kFrames = 1024;
  static constexpr std::size_t kScratch = 16 << 20;
  static constexpr std::size_t kClauses = 4096, kInstructions = 8192, kInstructionsOfProbe = 65536;
  static constexpr std::size_t kTexts = 4 << 20, kConstants = 65536, kNames = 4096, kActions = 65535;
  static constexpr std::size_t kVariableBytes = 256 << 10, kGlobalBytes = 4 << 20, kFrameBytes = 64 << 10;
  static constexpr std::size_t kEnabled = 65536, kTimers = 1024;
  static constexpr std::uint64_t kShortestInterval = 200'000;  // ns: 5000 a second, as in dtrace
};

/// Puts the defaults where options are 0. `probes` is how many the target has. Returns false and
/// says why, with clause and instruction.
[[nodiscard]] bool verify(Program& program, std::size_t probes, std::string& why);

}  // namespace vmrun::d
