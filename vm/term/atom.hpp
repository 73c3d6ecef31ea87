// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

#include "vm/base/small_limits.hpp"
#include "vm/term/term.hpp"

/// The atom table. There is one for the VM, and it only grows. Any thread may look up or intern;
/// reading an atom's text takes no lock. Well-known atoms have fixed indexes and names here
/// (`atoms::ok`), made from atoms.tab.
namespace vmrun {

inline constexpr std::size_t kAtomMaxCharacters = 255;

// The program's atoms have a limit. Beyond it the machine keeps a reserve for names of its own and
// for the modules of its library, so that a full table can be reported, and caught, like any other
// limit.
// kAtomCapacity: how many atoms the tables by atom must have room for. It is what a node's name and
// creation leave bits for.
inline constexpr std::size_t kAtomCapacity = usual_or_small<std::size_t>(1u << 26, 1u << 21);
inline constexpr std::size_t kAtomReserve = 1u << 15;
inline constexpr std::size_t kLeastAtomLimit = 8192, kDefaultAtomLimit = 1u << 20,
                             kMostAtomLimit = kAtomCapacity - kAtomReserve;

/// Returns the atom with this UTF-8 text, for texts that come from programs. The caller has checked
/// that the text has at most kAtomMaxCharacters code points. Returns the non-value when the
/// program's limit is reached (system_limit). Thread-safe.
[[nodiscard]] Term try_intern_atom(std::string_view utf8);
/// As above, for names that the machine itself knows. Uses the reserve if need be, so it always
/// succeeds. If even the reserve is used up (native code makes atoms this way), the VM ends with a
/// message.
Term intern_atom(std::string_view utf8);
/// While it lives with `wanted` set, try_intern_atom in this thread uses the reserve too, because
/// code that belongs to the machine is being loaded.
class ReservedAtoms {
 public:
  explicit ReservedAtoms(bool wanted);
  ~ReservedAtoms();
  ReservedAtoms(const ReservedAtoms&) = delete;
  ReservedAtoms& operator=(const ReservedAtoms&) = delete;

 private:
  bool before_;
};
/// Returns the atom if it exists already, else the non-value.
Term existing_atom(std::string_view utf8);
/// Returns the text of an atom, which lives as long as the VM.
std::string_view atom_text(Term atom);
/// Returns the hash of the text, kept for maps and fast comparison. It is stable within a run only.
std::uint32_t atom_hash(Term atom);
std::size_t atom_count();
std::size_t atom_limit();
void tell_debuggers_of_atoms();          // vm/base/debugger_facts.hpp
void set_atom_limit(std::size_t limit);  // kLeastAtomLimit to kMostAtomLimit; once, at start

}  // namespace vmrun

#include "vm/term/atoms_generated.hpp"
