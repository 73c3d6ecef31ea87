#pragma once

#include <cstddef>
#include <string>
#include <string_view>

/// Names in probe descriptions. A name that has blanks, colons or the characters of patterns is
/// written between single quotes, as Erlang writes such an atom; nothing in it is a pattern then.
/// Spec: Erlang Reference Manual, "Data Types", escape sequences.
namespace vmrun::d::lang {

/// Where the name whose opening quote is at `at` ends, behind its closing quote; npos: it has none.
std::size_t quoted_end(std::string_view text, std::size_t at);

/// The name between such quotes; `between` is what stands there. False: an escape sequence is
/// wrong, `why` says which.
bool read_quoted(std::string_view between, std::string& name, std::string& why);

/// The pattern (engine/pattern.hpp) that matches this name only.
std::string literal_pattern(std::string_view name);

/// The name as a description writes it: in quotes where it needs them.
std::string written_name(std::string_view name);
/// The pattern as a description writes it, with quotes around literal characters that need them.
std::string written_pattern(std::string_view pattern);

}  // namespace vmrun::d::lang
