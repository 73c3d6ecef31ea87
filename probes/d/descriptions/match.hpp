// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "probes/d/script/script.hpp"
#include "probes/d/syntax/failure.hpp"

/// Matches probe descriptions against the probes of a target.
namespace vmrun::d::lang {

struct Description {
  std::string provider, module, function, name;  // patterns; empty: any
  std::int64_t id = -1;                          // a probe by its number
};

/// Splits provider:module:function:name. Parts may be left out on the left, counted from the part
/// that the kind of source says is the last (-P, -m, -f). A name in single quotes is not a pattern
/// (quoted_names.hpp). Fails with D_PDESC_INVAL.
Description parse_description(const std::string& text, Source::Kind kind, Place place);

/// What descriptions are matched against.
struct Matchable {
  const std::vector<ProbeInfo>& probes;
  const std::function<std::size_t(const FunctionPattern&)>& count_functions;  // may be empty
};

/// Whether a description can name functions: it names a module or a function, or has the name of
/// such a probe. Any other description would match all functions.
bool may_name_functions(const Description& description);
/// Gives the functions that it names: reverse/1 is one with that arity, /1 is all with that arity.
/// Returns false when no function can have such a name.
bool functions_named(const Description& description, FunctionPattern& pattern);

struct Matched {
  std::vector<Enabled> enabled;
  std::vector<const ProbeInfo*> probes;   // one for each enabled, in their order; null: not the target's
  std::unordered_set<std::string> known;  // a probe in two descriptions fires the clause once
};

/// Returns the units that a timer may have.
const std::vector<std::string_view>& timer_units();

/// Returns why a description matches none of the probes, as far as the description shows it: a
/// timer's unit or interval, an arity, a provider. It is empty when only the names do not match.
std::string why_no_match(const Description& description, const std::vector<ProbeInfo>& probes);
/// Returns the message for a description that matches nothing.
std::string no_match_text(const ClauseInfo::Matched& matched);
/// Returns the reason for that, with its punctuation, for the end of a message; it may be empty.
std::string no_match_reason(const ClauseInfo::Matched& matched);

/// Adds what a description matches to `matched`, and the timers it names to the program. Returns
/// how many probes that are. Named functions are added even when they do not exist yet, because
/// they may be loaded later.
std::size_t match(const Description& description, const Matchable& there_is, Program& program,
                  Matched& matched);

}  // namespace vmrun::d::lang
