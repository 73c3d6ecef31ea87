// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>

#include "vm/term/term.hpp"

/// The options of re:compile/2 and re:run/3, as re(3erl) lists them.
namespace vmrun::regex {

/// How to read a pattern: options of PCRE2; newline and bsr: 0 for the default.
struct Syntax {
  std::uint32_t options = 0, newline = 0, bsr = 0;
};

/// The groups that re:run returns, and their form.
enum class What : std::uint8_t { kNone, kAll, kAllButFirst, kFirst, kNames, kList };
enum class Type : std::uint8_t { kIndex, kList, kBinary };

struct Options {
  Syntax syntax;
  std::uint32_t match = 0;
  bool compile_only = false;  // has an option that does not fit a compiled pattern
  bool run_only = false;      // has an option that does not fit compile/2
  bool exported = false;      // compile/2 returns what import/1 reads
  bool global = false, report_errors = false;
  SWord offset = 0;
  std::optional<std::uint32_t> match_limit, depth_limit;
  What what = What::kAll;
  Term wanted;  // the list, with kList
  Type type = Type::kIndex;
};

/// Returns false when the list has an unknown option, or one with a wrong value. Names of groups
/// are checked when a pattern runs.
bool parse_options(Term list, Options* o);

/// Returns all bits of Syntax::options that options of re:compile can set.
std::uint32_t all_compile_options();

}  // namespace vmrun::regex
