#pragma once

#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "probes/d/script/script.hpp"
#include "probes/d/syntax/failure.hpp"

/// Probe descriptions against the probes there are.
namespace vmrun::d::lang {

struct Description {
  std::string provider, module, function, name;  // patterns; empty: any
  std::int64_t id = -1;                          // a probe by its number
};

/// Splits provider:module:function:name; what is left out is left out on the left, from the part
/// that the kind of source says is the last (-P, -m, -f). What stands in single quotes is no
/// pattern (names.hpp). Fails with D_PDESC_INVAL.
Description parse_description(const std::string& text, Source::Kind kind, Place place);

/// What there is to be matched.
struct Matchable {
  const std::vector<ProbeInfo>& probes;
  const std::function<std::size_t(const FunctionPattern&)>& count_functions;  // may be empty
};

/// Whether a description can be of functions by name: it names a module or a function, or has the
/// name of such a probe. (Others would be of all functions there are.)
bool may_name_functions(const Description& description);
/// The functions it names: reverse/1 is one of that arity, /1 all of that arity. False: no function
/// is called so.
bool functions_named(const Description& description, FunctionPattern& pattern);

struct Matched {
  std::vector<Enabled> enabled;
  std::vector<const ProbeInfo*> probes;   // of the enabled, in their order; null: not the target's
  std::unordered_set<std::string> known;  // the same probe in two descriptions fires the clause once
};

/// Why a description matches none of the probes there are, as far as one can see from it: a timer's
/// unit or interval, an arity, a provider. Empty: nothing is wrong but the names.
std::string why_no_match(const Description& description, const std::vector<ProbeInfo>& probes);
/// What is said of a description that matches nothing; `why` may be empty.
std::string no_match_text(std::string_view description, std::string_view why);

/// Adds what a description matches to `matched`, and the timers it names to the program. Returns
/// how many probes that are. Functions by name are added also when there are none yet: they may be
/// loaded later.
std::size_t match(const Description& description, const Matchable& there_is, Program& program,
                  Matched& matched);

}  // namespace vmrun::d::lang
