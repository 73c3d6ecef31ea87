// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

/// Tags of the external term format. Erlang's chapter "External Term Format" gives the numbers.
namespace vmrun::etf {

inline constexpr std::uint8_t kVersion = 131;
enum Tag : std::uint8_t {
  kRecord = 67,
  kNewFloat = 70,
  kShortAtomNumber = 73,  // two bytes and, below, three: places in this machine's table of atoms
  kAtomNumber = 75,
  kBitBinary = 77,
  kCompressed = 80,
  kAtomReference = 82,
  kNewPid = 88,
  kNewPort = 89,
  kNewerReference = 90,
  kSmallInteger = 97,
  kInteger = 98,
  kFloat = 99,
  kAtom = 100,
  kReference = 101,
  kPort = 102,
  kPid = 103,
  kSmallTuple = 104,
  kLargeTuple = 105,
  kNil = 106,
  kString = 107,
  kList = 108,
  kBinary = 109,
  kSmallBig = 110,
  kLargeBig = 111,
  kNewFun = 112,
  kExport = 113,
  kNewReference = 114,
  kSmallAtom = 115,
  kMap = 116,
  kAtomUtf8 = 118,
  kSmallAtomUtf8 = 119,
  kV4Port = 120,
  kLocal = 121,
};

}  // namespace vmrun::etf
