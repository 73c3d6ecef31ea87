#pragma once

#include <string_view>

#include "vm/term/term.hpp"

/// The atom table: one for the VM, grows only. Any thread may look up or intern; reading an atom's
/// text takes no lock. Well-known atoms have fixed indexes and names here (`atoms::ok`), made from
/// atoms.tab.
namespace vmrun {

inline constexpr std::size_t kAtomMaxCharacters = 255;
inline constexpr std::size_t kAtomLimit = 1u << 20;

/// The atom with this UTF-8 text (at most kAtomMaxCharacters code points, checked by the caller).
/// Thread-safe. Returns the non-value when the table is full (system_limit).
Term intern_atom(std::string_view utf8);
/// The atom if it exists already, else the non-value.
Term existing_atom(std::string_view utf8);
/// Text of an atom; lives as long as the VM.
std::string_view atom_text(Term atom);
/// First bytes and hash of the text, kept for fast comparison and maps. Hash is stable within a run
/// only.
std::uint32_t atom_hash(Term atom);
std::size_t atom_count();

}  // namespace vmrun

#include "vm/term/atoms_generated.hpp"
