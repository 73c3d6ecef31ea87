#pragma once

#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "probes/d/failure.hpp"
#include "probes/d/script.hpp"

/// Probe descriptions against the probes there are.
namespace vmrun::d::lang {

struct Description {
  std::string provider, module, function, name;  // patterns; empty: any
  std::int64_t id = -1;                          // a probe by its number
};

/// Splits provider:module:function:name; what is left out is left out on the left, from the part
/// that the kind of source says is the last (-P, -m, -f). Fails with D_PDESC_INVAL.
Description parse_description(const std::string& text, Source::Kind kind, Place place);

struct Matched {
  std::vector<Enabled> enabled;
  std::vector<const ProbeInfo*> probes;   // of the enabled, in their order; null: not the target's
  std::unordered_set<std::string> known;  // the same probe in two descriptions fires the clause once
};

/// Adds what a description matches to `matched`, and the timers it names to the program. Returns
/// how many probes that are.
std::size_t match(const Description& description, const std::vector<ProbeInfo>& probes, Program& program,
                  Matched& matched);

}  // namespace vmrun::d::lang
