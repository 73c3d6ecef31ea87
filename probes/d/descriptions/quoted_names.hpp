// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

/// Names in probe descriptions. A name with blanks, colons or the characters of patterns is written
/// between single quotes, as Erlang writes such an atom. Nothing in it is a pattern then. Spec:
/// Erlang Reference Manual, "Data Types", escape sequences.
namespace vmrun::d::lang {

/// Returns where a name ends whose opening quote is at `at`: behind its closing quote, or npos when
/// it has none.
std::size_t quoted_end(std::string_view text, std::size_t at);

/// Reads the name between such quotes. Returns false when an escape sequence is wrong; `why` says
/// which.
bool read_quoted(std::string_view between, std::string& name, std::string& why);

/// Returns the pattern (engine/pattern.hpp) that matches this name only.
std::string literal_pattern(std::string_view name);

/// Returns the name as a description writes it, in quotes where it needs them.
std::string written_name(std::string_view name);
/// Returns the pattern as a description writes it, with quotes around literal characters that need
/// them.
std::string written_pattern(std::string_view pattern);

}  // namespace vmrun::d::lang
