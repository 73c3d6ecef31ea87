// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "vm/dist/wire/distribution_flags.hpp"

/// The header in front of control message and payload: ERTS User's Guide, "External Term Format",
/// "Distribution Header".
namespace vmrun::dist::header {

/// Whether there is a header; else packets are passed through.
constexpr bool is_used(Flags flags) { return flags & (flag::kDistHdrAtomCache | flag::kFragments); }

inline constexpr std::uint8_t kVersion = 131;
enum Kind : std::uint8_t {
  kWhole = 'D',          // the only packet of a message
  kFirstFragment = 'E',  // with the atoms of all fragments
  kLaterFragment = 'F',
  kPassThrough = 'p',  // without an atom cache: terms with a version byte each
};
inline constexpr unsigned kFragmentNumbersBytes = 16;  // sequence and fragment, behind the kind
/// Four bits for each atom, in pairs from the lower half byte: whether it is new, and its segment
/// of the cache. Four more bits follow those of the last atom.
inline constexpr unsigned kNewAtom = 8, kSegment = 7, kLongAtoms = 1;
inline constexpr unsigned kSegmentPlaces = 256;
constexpr unsigned flag_bytes(unsigned atoms) { return atoms == 0 ? 0 : atoms / 2 + 1; }

}  // namespace vmrun::dist::header
