#pragma once

#include <string_view>

#include "vm/base/small_limits.hpp"
#include "vm/term/term.hpp"

/// The atom table: one for the VM, grows only. Any thread may look up or intern; reading an atom's
/// text takes no lock. Well-known atoms have fixed indexes and names here (`atoms::ok`), made from
/// atoms.tab.
namespace vmrun {

inline constexpr std::size_t kAtomMaxCharacters = 255;

// The program's atoms have a limit; beyond it the machine keeps a reserve for names of its own and
// for the modules of its library, so that a full table can be reported, and caught, like any other
// limit.
// What tables by atom must have room for: as many as a node's name and creation leave bits for.
inline constexpr std::size_t kAtomCapacity = usual_or_small<std::size_t>(1u << 26, 1u << 21);
inline constexpr std::size_t kAtomReserve = 1u << 15;
inline constexpr std::size_t kLeastAtomLimit = 8192, kDefaultAtomLimit = 1u << 20,
                             kMostAtomLimit = kAtomCapacity - kAtomReserve;

/// The atom with this UTF-8 text (at most kAtomMaxCharacters code points, checked by the caller),
/// for texts that come from programs. Thread-safe. Returns the non-value when the program's limit
/// is reached (system_limit).
[[nodiscard]] Term try_intern_atom(std::string_view utf8);
/// The same for names the machine itself knows: takes from the reserve if need be, so it always
/// succeeds. Should even that be used up (native code makes atoms this way), the VM ends with a
/// message.
Term intern_atom(std::string_view utf8);
/// While it lives, try_intern_atom of this thread takes from the reserve too: what belongs to the
/// machine is being loaded.
class ReservedAtoms {
 public:
  explicit ReservedAtoms(bool wanted);
  ~ReservedAtoms();
  ReservedAtoms(const ReservedAtoms&) = delete;
  ReservedAtoms& operator=(const ReservedAtoms&) = delete;

 private:
  bool before_;
};
/// The atom if it exists already, else the non-value.
Term existing_atom(std::string_view utf8);
/// Text of an atom; lives as long as the VM.
std::string_view atom_text(Term atom);
/// First bytes and hash of the text, kept for fast comparison and maps. Hash is stable within a run
/// only.
std::uint32_t atom_hash(Term atom);
std::size_t atom_count();
std::size_t atom_limit();
void set_atom_limit(std::size_t limit);  // kLeastAtomLimit to kMostAtomLimit; once, at start

}  // namespace vmrun

#include "vm/term/atoms_generated.hpp"
