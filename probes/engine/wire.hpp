#pragma once

#include <cstdint>

/// What vmtrace and the machine say to each other: messages over a stream socket of the local
/// domain, each a Head and its bytes. One connection is one session (session.hpp).
///
///   vmtrace                         machine
///   kHello version                  kProbes: the list of probes
///   kProgram bytes                  kReady, or kRefused text
///   kGo                             kRing number cpu, and a descriptor (SCM_RIGHTS), once a thread
///                                   fires first
///   kAggregations clear...          kAggregations elements
///   kAtoms numbers                  kNames texts
///   kAddresses addresses            kNames texts
///   kDrops                          kDrops counts
///   kStop (END runs)                kStopped
///                                   kExit status, when a script calls exit()
/// Closing the connection undoes everything, END is not run.
namespace vmrun::d {

inline constexpr std::uint32_t kWireVersion = 1;

enum class Message : std::uint32_t {
  kHello = 1,
  kProbes,
  kProgram,
  kReady,
  kRefused,
  kGo,
  kRing,
  kAggregations,
  kAtoms,
  kAddresses,
  kNames,
  kDrops,
  kStop,
  kStopped,
  kExit
};

struct Head {
  Message message;
  std::uint32_t bytes;  // that follow
};
inline constexpr std::uint32_t kLongestMessage = 64 << 20;

}  // namespace vmrun::d
