#pragma once

#include <cstdint>
#include <optional>

#include "vm/term/term.hpp"

/// Options of re:compile/2 and re:run/3, as re(3erl) lists them.
namespace vmrun::regex {

/// How a pattern is to be understood: options of PCRE2; newline and bsr: 0 is what is usual.
struct Syntax {
  std::uint32_t options = 0, newline = 0, bsr = 0;
};

/// Groups that re:run shows, and how.
enum class What : std::uint8_t { kNone, kAll, kAllButFirst, kFirst, kNames, kList };
enum class Type : std::uint8_t { kIndex, kList, kBinary };

struct Options {
  Syntax syntax;
  std::uint32_t match = 0;
  bool compile_only = false;  // one that does not go with a compiled pattern
  bool run_only = false;      // one that does not go with compile/2
  bool global = false, report_errors = false;
  SWord offset = 0;
  std::optional<std::uint32_t> match_limit, depth_limit;
  What what = What::kAll;
  Term wanted;  // kList
  Type type = Type::kIndex;
};

/// False: there is one that is none, or one with a wrong value. Names of groups are looked at by
/// who runs a pattern.
bool parse_options(Term list, Options* o);

/// All that options of re:compile can set in Syntax::options.
std::uint32_t all_compile_options();

}  // namespace vmrun::regex
