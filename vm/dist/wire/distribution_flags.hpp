// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>

/// What nodes tell each other in the handshake that they support, in one table. Names and bits:
/// ERTS User's Guide, "Distribution Protocol", "Distribution Flags". The meanings are those that
/// erts_internal:get_dflags/0 returns in OTP 25 to 29.
namespace vmrun::dist {

using Flags = std::uint64_t;

/// What a flag means to this node.
inline constexpr unsigned kOurs = 1,        // offered in every handshake
    kMandatory = 2,                         // a node without it is refused
    kRejectable = 4,                        // a carrier may ask that it is not used
    kStrictOrder = 8,                       // needs a carrier that keeps the order of packets
    kRequired = kOurs | kMandatory,         // and all mandatory ones are offered
    kOrdered = kRejectable | kStrictOrder;  // and all that need order may be rejected
/// The meanings of a flag that is offered in every handshake, and mandatory from that release on.
constexpr unsigned mandatory_since(unsigned release) { return kOurs | release << 8; }
/// The meanings of a flag that exists from that release on.
constexpr unsigned ours_since(unsigned release) { return kOurs | release << 16; }

// X(name, Erlang's name, bit, its meaning to this node)
#define VMRUN_DIST_FLAGS(X)                                                     \
  X(kPublished, "PUBLISHED", 0, 0)                                              \
  X(kAtomCache, "ATOM_CACHE", 1, kRejectable)                                   \
  X(kExtendedReferences, "EXTENDED_REFERENCES", 2, kRequired)                   \
  X(kDistMonitor, "DIST_MONITOR", 3, kOurs)                                     \
  X(kFunTags, "FUN_TAGS", 4, kRequired)                                         \
  X(kDistMonitorName, "DIST_MONITOR_NAME", 5, kOurs)                            \
  X(kHiddenAtomCache, "HIDDEN_ATOM_CACHE", 6, kRejectable)                      \
  X(kNewFunTags, "NEW_FUN_TAGS", 7, kRequired)                                  \
  X(kExtendedPidsPorts, "EXTENDED_PIDS_PORTS", 8, kRequired)                    \
  X(kExportPtrTag, "EXPORT_PTR_TAG", 9, kRequired)                              \
  X(kBitBinaries, "BIT_BINARIES", 10, kRequired)                                \
  X(kNewFloats, "NEW_FLOATS", 11, kRequired)                                    \
  X(kUnicodeIo, "UNICODE_IO", 12, kOurs)                                        \
  X(kDistHdrAtomCache, "DIST_HDR_ATOM_CACHE", 13, kOurs | kOrdered)             \
  X(kSmallAtomTags, "SMALL_ATOM_TAGS", 14, kOurs)                               \
  X(kUtf8Atoms, "UTF8_ATOMS", 16, kRequired)                                    \
  X(kMapTag, "MAP_TAG", 17, kRequired)                                          \
  X(kBigCreation, "BIG_CREATION", 18, kRequired)                                \
  X(kSendSender, "SEND_SENDER", 19, kOurs)                                      \
  X(kBigSeqtraceLabels, "BIG_SEQTRACE_LABELS", 20, kOurs)                       \
  X(kExitPayload, "EXIT_PAYLOAD", 22, kOurs)                                    \
  X(kFragments, "FRAGMENTS", 23, kOurs | kRejectable)                           \
  X(kHandshake23, "HANDSHAKE_23", 24, kRequired)                                \
  X(kUnlinkId, "UNLINK_ID", 25, mandatory_since(26))                            \
  X(kMandatory25Digest, "MANDATORY_25_DIGEST", 26, kOurs) /* all of OTP 25's */ \
  X(kSpawn, "SPAWN", 32, kOurs)                                                 \
  X(kNameMe, "NAME_ME", 33, 0)                                                  \
  X(kV4Nc, "V4_NC", 34, mandatory_since(26))                                    \
  X(kAlias, "ALIAS", 35, kOurs)                                                 \
  X(kAltactSig, "ALTACT_SIG", 37, ours_since(28))                               \
  X(kNativeRecords, "NATIVE_RECORDS", 38, ours_since(29))

namespace flag {
#define VMRUN_DIST_FLAG(name, text, bit, meaning) inline constexpr Flags name = Flags{1} << (bit);
VMRUN_DIST_FLAGS(VMRUN_DIST_FLAG)
#undef VMRUN_DIST_FLAG
}  // namespace flag

struct FlagRow {
  const char* name;  // without DFLAG_
  Flags bit;
  unsigned meaning;
};
inline constexpr FlagRow kFlagTable[] = {
#define VMRUN_DIST_FLAG(name, text, bit, meaning) {text, flag::name, meaning},
    VMRUN_DIST_FLAGS(VMRUN_DIST_FLAG)
#undef VMRUN_DIST_FLAG
};

/// Returns the meanings that a flag of the table has in that release of OTP.
constexpr unsigned meaning_in(unsigned release, unsigned meaning) {
  const unsigned mandatory = meaning >> 8 & 0xff, ours = meaning >> 16;
  if (release < ours) return 0;
  return (meaning & 0xff) | (mandatory && release >= mandatory ? kMandatory : 0);
}

/// Returns all flags with that meaning in that release: the elements of get_dflags/0.
constexpr Flags flags_that_are(unsigned meaning, int release) {
  Flags all = 0;
  for (const FlagRow& row : kFlagTable)
    if (meaning_in(static_cast<unsigned>(release), row.meaning) & meaning) all |= row.bit;
  return all;
}

/// Flags that this node does not offer, for OTP's own tests.
inline std::atomic<Flags> removed_flags{0};

}  // namespace vmrun::dist
