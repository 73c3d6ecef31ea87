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

/// Regular expressions, compiled by PCRE2 as pcre2api(3) tells, and in the form that programs keep.
///
/// A compiled pattern is {re_pattern, Captures, Unicode, UseCrlf, Code}. Code is a binary, for
/// programs keep patterns in code, in files and on other nodes: it has the pattern's text and
/// options, and each thread keeps what PCRE2 made of those it has met. So nothing that is made up
/// is ever run. All of this is for the thread that runs the process.
namespace vmrun::regex {

template <auto free>
struct Free {
  void operator()(auto* object) const { free(object); }
};
using Code = std::unique_ptr<pcre2_code, Free<pcre2_code_free>>;

/// A fact of a pattern that is one number: PCRE2_INFO_CAPTURECOUNT, …
std::uint32_t info(const pcre2_code* code, std::uint32_t what);
bool is_unicode(const pcre2_code* code);
/// Whether \r\n can be one end of a line.
bool uses_crlf(const pcre2_code* code);

struct GroupName {
  std::string_view name;
  std::uint32_t group;
};
/// In the order of the names; one that several groups have comes several times.
std::vector<GroupName> group_names(const pcre2_code* code);

struct CompileError {
  int code = 0;
  std::size_t at = 0;
};

/// Null with error->code 0: no memory.
Code compile(Process& p, std::string text, const Syntax& syntax, CompileError* error);
/// {error, {Text, Position}}, in the words of PCRE 8.
Term error_tuple(Process& p, const CompileError& error);

/// A pattern or subject as a binary; the non-value when it is none, or too long for the calling
/// thread: *used_up. A binary is taken as it is: PCRE2 checks what is to be UTF-8.
Term text_argument(Process& p, Term text, bool unicode, bool* used_up);
/// False: the expression is none, or too long for the calling thread to compile: *used_up.
bool pattern_text(Process& p, Term expression, const Options& o, std::string* text, bool* used_up);

/// As it was asked for, and what PCRE2 makes of it. Good until the thread keeps another one.
struct Pattern {
  Syntax syntax;
  std::string_view text;
  const pcre2_code* code;
};
/// Whether it has the form of a compiled pattern.
bool is_pattern(Term t);
/// Of what has that form; none: it is none, or its text is too long for the calling thread to
/// compile: *used_up.
std::optional<Pattern> pattern_of(Process& p, Term t, bool* used_up);
/// The term that programs keep.
Term pattern_term(Process& p, const Syntax& syntax, std::string_view text, Code code);

}  // namespace vmrun::regex
