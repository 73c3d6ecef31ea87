#include "probes/vmtrace/listing.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <set>
#include <tuple>
#include <utility>

#include <fmt/format.h>

#include "probes/d/descriptions/match.hpp"
#include "probes/d/descriptions/pattern.hpp"
#include "probes/print/describe.hpp"

namespace vmrun::d {
namespace {

constexpr const char* kKinds[] = {"pid",    "pid",  "port", "function", "term",
                                  "iolist", "text", "int",  "uint32",   "int64"};

using Description = std::array<std::string, 4>;  // provider, module, function, name

/// The patterns of one description; those left out, on the left, are empty.
Description parts_of(const std::string& text, unsigned last) {
  Description parts;
  std::size_t end = text.size();
  for (unsigned at = last + 1; at-- > 0;) {
    const auto colon = end == 0 ? std::string::npos : text.rfind(':', end - 1);
    const std::size_t begin = colon == std::string::npos ? 0 : colon + 1;
    parts[at] = text.substr(begin, end - begin);
    if (colon == std::string::npos) break;
    end = colon;
  }
  return parts;
}

/// Whether the slash at `at` stands before an arity (reverse/2:) and not before a predicate.
bool is_before_arity(const std::string& text, std::size_t at) {
  const auto is = [](const char c, auto test) { return test(static_cast<unsigned char>(c)) != 0; };
  std::size_t end = at + 1;
  while (end < text.size() && is(text[end], isdigit)) ++end;
  return at > 0 && !is(text[at - 1], isspace) && end > at + 1 && (end == text.size() || text[end] == ':');
}

/// Descriptions of a text up to its predicate or action, which commas part.
std::vector<std::string> descriptions_of(const std::string& text) {
  std::size_t end = text.find_first_of("/{");
  while (end != std::string::npos && text[end] == '/' && is_before_arity(text, end))
    end = text.find_first_of("/{", end + 1);
  std::vector<std::string> all(1);
  for (const char c : text.substr(0, end)) {
    if (c == ',') all.emplace_back();
    else if (std::isspace(static_cast<unsigned char>(c)) == 0) all.back() += c;
  }
  return all;
}

unsigned last_part(Source::Kind kind) {
  return kind == Source::Kind::kProvider   ? 0
         : kind == Source::Kind::kModule   ? 1
         : kind == Source::Kind::kFunction ? 2
                                           : 3;
}

bool describes(const Source& source, const ProbeInfo& probe, std::uint32_t id) {
  const std::vector<std::string> all = descriptions_of(source.text);
  return std::any_of(all.begin(), all.end(), [&](const std::string& text) {
    if (source.kind == Source::Kind::kId) return text == fmt::format("{}", id);
    const Description parts = parts_of(text, last_part(source.kind));
    return matches(parts[0], probe.provider) && matches(parts[1], probe.module) &&
           matches(parts[2], probe.function) && matches(parts[3], probe.name);
  });
}

/// user_trace-n of user_trace-n17; nothing for others.
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

/// Entry and return of a function, or of a family of them, as far as the name matches. They have
/// no number before they are enabled.
void put_function(std::string& out, ProbeInfo probe, const std::string& name, bool arguments) {
  for (const bool returns : {false, true}) {
    probe.name = function_probe_info(returns).name;
    if (!matches(name, probe.name)) continue;
    put_probe(out, "-", probe, probe.name);
    if (arguments) put_arguments(out, probe);
  }
}

/// Functions by name that a description is of.
void list_functions(std::string& out, Target& target, const Description& parts, bool arguments) {
  ProbeInfo probe = probe_info(target.probes(), Program(), kFunctionEntry);
  const lang::Description description{parts[0], parts[1], parts[2], parts[3], -1};
  FunctionPattern pattern;
  if (!matches(parts[0], probe.provider) || !lang::functions_named(description, pattern)) return;
  if (!lang::may_name_functions(description)) {
    probe.module = probe.function = "*";
    return put_function(out, std::move(probe), parts[3], arguments);
  }
  for (const ListedFunction& f : target.functions(pattern, kMostListed)) {
    probe.module = f.module;
    probe.function = fmt::format("{}/{}", f.function, f.arity);
    put_function(out, probe, parts[3], arguments);
  }
}

void list_functions(std::string& out, Target& target, const std::vector<Source>& sources, bool arguments) {
  if (!target.has_functions() || target.probes().empty()) return;
  if (sources.empty()) return list_functions(out, target, Description(), arguments);
  for (const Source& source : sources) {
    if (source.kind == Source::Kind::kId) continue;
    for (const std::string& text : descriptions_of(source.text))
      list_functions(out, target, parts_of(text, last_part(source.kind)), arguments);
  }
}

void list_static_probes(std::string& out, const std::vector<ProbeInfo>& probes,
                        const std::vector<Source>& sources, bool arguments) {
  out += "   ID   PROVIDER            MODULE                          FUNCTION NAME\n";
  std::vector<std::uint32_t> numbers = {kBeginProbe, kEndProbe, kErrorProbe};
  for (std::uint32_t i = 0; i < probes.size(); ++i) numbers.push_back(i);
  const Program none;
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    const ProbeInfo probe = probe_info(probes, none, numbers[i]);
    const auto wanted = [&](const Source& s) { return describes(s, probe, probe_id(numbers[i])); };
    if (!sources.empty() && std::none_of(sources.begin(), sources.end(), wanted)) continue;
    std::string name = probe.name;
    std::size_t last = i;
    if (const std::string family = family_of(probe.name); !family.empty()) {
      while (last + 1 < numbers.size() && family_of(probes[numbers[last + 1]].name) == family &&
             (sources.empty() || std::any_of(sources.begin(), sources.end(), [&](const Source& s) {
                return describes(s, probes[numbers[last + 1]], probe_id(numbers[last + 1]));
              })))
        ++last;
      if (last > i) name += " ... " + probes[numbers[last]].name;
    }
    put_probe(out, fmt::format("{}", probe_id(numbers[i])), probe, name);
    if (arguments) put_arguments(out, probe);
    i = last;
  }
}

}  // namespace

void list_probes(std::string& out, Target& target, const std::vector<Source>& sources, bool arguments) {
  list_static_probes(out, target.probes(), sources, arguments);
  list_functions(out, target, sources, arguments);
}

std::string describe_matches(const Script& script, const std::vector<ProbeInfo>& probes) {
  std::string out;
  std::set<std::tuple<std::uint32_t, std::string, std::string>> told;
  for (const Clause& clause : script.program.clauses)
    for (const Enabled& enabled : clause.probes) {
      ProbeInfo probe = probe_info(probes, script.program, enabled.probe);
      if (probe.of_function) {
        probe.module = enabled.module;
        probe.function = enabled.function + (enabled.arity < 0 ? "" : fmt::format("/{}", enabled.arity));
      }
      if (!told.insert(std::tuple(enabled.probe, probe.module, probe.function)).second) continue;
      out += fmt::format("{}:{}:{}:{}\n", probe.provider, probe.module, probe.function, probe.name);
      put_arguments(out, probe);
    }
  return out;
}

}  // namespace vmrun::d
