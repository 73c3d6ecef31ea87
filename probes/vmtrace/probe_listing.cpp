// SPDX-License-Identifier: Apache-2.0
#include "probes/vmtrace/probe_listing.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include <fmt/format.h>

#include "probes/d/descriptions/quoted_names.hpp"
#include "probes/print/describe.hpp"

namespace vmrun::d {
namespace {

constexpr const char* kKinds[] = {"pid",    "pid",  "port", "function", "term",
                                  "iolist", "text", "int",  "uint32",   "int64"};

/// Returns the family of a numbered probe: user_trace-n for user_trace-n17, an empty text for
/// others.
std::string family_of(const std::string& name) {
  const auto end = name.find_last_not_of("0123456789");
  const auto dash = name.rfind('-');
  if (end == std::string::npos || end + 1 == name.size() || dash == std::string::npos || dash > end)
    return "";
  return name.substr(0, end + 1);
}

void put_probe(std::string& out, const std::string& id, const ProbeInfo& probe, const std::string& name) {
  fmt::format_to(std::back_inserter(out), "{:>5} {:>10} {:>17} {:>33} {}\n", id, probe.provider, probe.module,
                 probe.function, name);
}

void put_arguments(std::string& out, const ProbeInfo& probe) {
  if (probe.arguments.empty()) out += "\tno arguments\n";
  for (std::size_t i = 0; i < probe.arguments.size(); ++i)
    fmt::format_to(std::back_inserter(out), "\targ{}: {} {}\n", i,
                   kKinds[static_cast<std::size_t>(probe.arguments[i].kind)], probe.arguments[i].name);
  out += '\n';
}

/// BEGIN, END and ERROR come first, timers last.
struct ById {
  bool operator()(std::uint32_t x, std::uint32_t y) const { return probe_id(x) < probe_id(y); }
};
using Numbers = std::set<std::uint32_t, ById>;

/// Lists the probes with these numbers. Consecutive probes of one family are one line.
void list_probes(std::string& out, const std::vector<ProbeInfo>& probes, const Program& program,
                 const Numbers& numbers, bool arguments) {
  for (auto at = numbers.begin(); at != numbers.end();) {
    const std::uint32_t first = *at;
    const ProbeInfo probe = probe_info(probes, program, first);
    const std::string family = first < probes.size() ? family_of(probe.name) : "";
    std::uint32_t last = first;
    for (++at; at != numbers.end() && !family.empty(); ++at) {
      if (*at >= probes.size() || family_of(probes[*at].name) != family) break;
      last = *at;
    }
    put_probe(out, fmt::format("{}", probe_id(first)), probe,
              probe.name + (last == first ? "" : " ... " + probes[last].name));
    if (arguments) put_arguments(out, probe);
  }
}

/// Lists the probes of a function, or of a family of functions, for each bit in `events`. They have
/// no number before they are enabled.
void list_function(std::string& out, ProbeInfo probe, unsigned events, bool arguments) {
  for (unsigned event = 0; event < kFunctionEvents; ++event) {
    if (!(events >> event & 1)) continue;
    probe.name = function_probe_info(static_cast<FunctionEvent>(event)).name;
    put_probe(out, "-", probe, probe.name);
    if (arguments) put_arguments(out, probe);
  }
}

/// The functions that clauses name, and which of their probes, a bit each.
struct Functions {
  std::map<std::tuple<std::string, std::string, std::int32_t>, unsigned> named;

  void add(const Enabled& enabled) {
    named[{enabled.module, enabled.function, enabled.arity}] |=
        1u << static_cast<unsigned>(event_of_probe(enabled.probe));
  }
};

void list_functions(std::string& out, Target& target, const Functions& functions, bool arguments) {
  for (const auto& [name, events] : functions.named) {
    const auto& [module, function, arity] = name;
    ProbeInfo probe = probe_info(target.probes(), Program(), kFunctionProbes);
    for (const ListedFunction& f : target.functions({module, function, arity}, kMostListed)) {
      probe.module = lang::written_name(f.module);
      probe.function = fmt::format("{}/{}", lang::written_name(f.function), f.arity);
      list_function(out, probe, events, arguments);
    }
  }
}

}  // namespace

std::string list_header() {
  return "   ID   PROVIDER            MODULE                          FUNCTION NAME\n";
}

void list_all(std::string& out, Target& target, bool arguments) {
  Numbers numbers = {kBeginProbe, kEndProbe, kErrorProbe};
  for (std::uint32_t i = 0; i < target.probes().size(); ++i) numbers.insert(i);
  list_probes(out, target.probes(), Program(), numbers, arguments);
  if (!target.has_functions() || target.probes().empty()) return;
  ProbeInfo probe = probe_info(target.probes(), Program(), kFunctionProbes);
  probe.module = probe.function = "*";
  list_function(out, probe, ~0u, arguments);
}

void list_matches(std::string& out, Target& target, const Script& script, bool arguments) {
  Numbers numbers;
  Functions functions;
  for (const Clause& clause : script.program.clauses)
    for (const Enabled& enabled : clause.probes) {
      if (is_any_function_probe(enabled.probe)) functions.add(enabled);
      else numbers.insert(enabled.probe);
    }
  list_probes(out, target.probes(), script.program, numbers, arguments);
  list_functions(out, target, functions, arguments);
}

std::string describe_matches(const Script& script, const std::vector<ProbeInfo>& probes) {
  std::string out;
  std::set<std::tuple<std::uint32_t, std::string, std::string>> told;
  for (const Clause& clause : script.program.clauses)
    for (const Enabled& enabled : clause.probes) {
      ProbeInfo probe = probe_info(probes, script.program, enabled.probe);
      if (probe.of_function) {
        probe.module = lang::written_pattern(enabled.module);
        probe.function = lang::written_pattern(enabled.function) +
                         (enabled.arity < 0 ? "" : fmt::format("/{}", enabled.arity));
      }
      if (!told.insert(std::tuple(enabled.probe, probe.module, probe.function)).second) continue;
      out += fmt::format("{}:{}:{}:{}\n", probe.provider, probe.module, probe.function, probe.name);
      put_arguments(out, probe);
    }
  return out;
}

}  // namespace vmrun::d
