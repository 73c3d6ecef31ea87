// SPDX-License-Identifier: Apache-2.0
#pragma once

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/bif/re_options.hpp"
#include "vm/process/process.hpp"

/// Regular expressions, compiled by PCRE2 as in pcre2api(3), and the terms in which programs keep
/// them.
///
/// A compiled pattern is {re_pattern, Captures, Unicode, UseCrlf, Code}. Code is a binary, because
/// programs keep patterns in code, in files and on other nodes. It holds the pattern's text and
/// options. Each thread keeps the PCRE2 code of the patterns that it has met, so a forged Code is
/// never executed. All functions are for the thread that runs the process.
namespace vmrun::regex {

template <auto free>
struct Free {
  void operator()(auto* object) const { free(object); }
};
using Code = std::unique_ptr<pcre2_code, Free<pcre2_code_free>>;

/// Returns a fact about a pattern that is one number: PCRE2_INFO_CAPTURECOUNT, …
std::uint32_t info(const pcre2_code* code, std::uint32_t what);
/// Whether it matches UTF-8: it was compiled with the option `unicode`, or begins with (*UTF).
bool is_unicode(const pcre2_code* code);
/// Whether it was compiled with the option `unicode`: texts given as lists are of characters then,
/// and of bytes otherwise, whatever the pattern begins with.
bool is_of_characters(const pcre2_code* code);
/// Whether \r\n can end a line.
bool uses_crlf(const pcre2_code* code);

struct GroupName {
  std::string_view name;
  std::uint32_t group;
};
/// In the order of names; a name that several groups share occurs several times.
std::vector<GroupName> group_names(const pcre2_code* code);

struct CompileError {
  int code = 0;
  std::size_t at = 0;
};

/// Returns nullptr on error; with error->code 0 when there is no memory.
Code compile(Process& p, std::string text, const Syntax& syntax, CompileError* error);
/// Returns {error, {Text, Position}} in the words of PCRE 8.
Term error_tuple(Process& p, const CompileError& error);

/// Returns a pattern or subject as a binary. Returns the non-value when the term is not text, or
/// too long for the calling thread (*used_up). A binary is returned unchanged; PCRE2 checks whether
/// it is UTF-8.
Term text_argument(Process& p, Term text, bool unicode, bool* used_up);
/// Returns false when the expression is not text, or too long for the calling thread to compile
/// (*used_up).
bool pattern_text(Process& p, Term expression, const Options& o, std::string* text, bool* used_up);

/// A pattern as the program gave it, and its PCRE2 code. Valid until the thread keeps another one.
struct Pattern {
  Syntax syntax;
  std::string_view text;
  const pcre2_code* code;
};
/// Whether the term has the form of a compiled pattern.
bool is_pattern(Term t);
/// Returns the pattern of a term of that form. Returns nothing when the term is not a pattern, or
/// its text is too long for the calling thread to compile (*used_up).
std::optional<Pattern> pattern_of(Process& p, Term t, bool* used_up);
/// Makes the term that programs keep.
Term pattern_term(Process& p, const Syntax& syntax, std::string_view text, Code code);

}  // namespace vmrun::regex
