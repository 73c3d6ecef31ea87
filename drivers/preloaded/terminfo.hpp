// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

/// What the user's terminal can do and how it is told to: the database terminfo(5), read by the
/// library libtinfo. The library has one terminal at a time; a lock guards it, so any thread may
/// call. Without the library at build time kHasTerminfo is false, and no function may be called.
/// See tgetent(3), setupterm(3), tputs(3).
namespace vmrun::terminfo {

#ifdef VMRUN_TERMINFO
inline constexpr bool kHasTerminfo = true;
#else
inline constexpr bool kHasTerminfo = false;
#endif

/// Finds a terminal by its name. Returns false if the database does not know it.
bool load(const char* terminal);
/// Finds the terminal that the variable TERM names.
bool load_users();

// Capabilities by the names of termcap (two characters).

/// Returns a negative number if the terminal does not have it.
int number(const char* capability);
bool flag(const char* capability);
std::optional<std::string> termcap_string(const char* capability);

/// A string capability by its name of terminfo. Returns false if no such capability exists;
/// *value is empty if the terminal does not have it.
bool string(const char* capability, std::optional<std::string>* value);

/// Fills in the parameters of a capability and pads it for the terminal's speed. Returns nothing
/// if the capability is malformed.
std::optional<std::string> with_parameters(const char* capability, std::span<const long> parameters);
/// Does so for a movement to a column and a row, in termcap's order of parameters.
std::optional<std::string> with_position(const char* capability, int column, int row);

/// The names of all capabilities of one kind.
enum class Kind { kFlag, kNumber, kString };
struct Name {
  const char *name, *code, *full_name;  // of terminfo, of termcap, of the C variable
};
std::vector<Name> names(Kind kind);

}  // namespace vmrun::terminfo
