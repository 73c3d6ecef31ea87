#include "probes/vmtrace/listing.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <set>

#include <fmt/format.h>

#include "probes/vmtrace/output.hpp"

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

/// Descriptions of a text up to its predicate or action, which commas part.
std::vector<std::string> descriptions_of(const std::string& text) {
  std::vector<std::string> all(1);
  for (const char c : text.substr(0, text.find_first_of("/{"))) {
    if (c == ',') all.emplace_back();
    else if (std::isspace(static_cast<unsigned char>(c)) == 0) all.back() += c;
  }
  return all;
}

bool describes(const Source& source, const ProbeInfo& probe, std::uint32_t id) {
  const std::vector<std::string> all = descriptions_of(source.text);
  return std::any_of(all.begin(), all.end(), [&](const std::string& text) {
    if (source.kind == Source::Kind::kId) return text == fmt::format("{}", id);
    const unsigned last = source.kind == Source::Kind::kProvider   ? 0
                          : source.kind == Source::Kind::kModule   ? 1
                          : source.kind == Source::Kind::kFunction ? 2
                                                                   : 3;
    const Description parts = parts_of(text, last);
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

void put_probe(std::string& out, std::uint32_t id, const ProbeInfo& probe, const std::string& name) {
  fmt::format_to(std::back_inserter(out), "{:5} {:>10} {:>17} {:>33} {}\n", id, probe.provider, probe.module,
                 probe.function, name);
}

void put_arguments(std::string& out, const ProbeInfo& probe) {
  if (probe.arguments.empty()) out += "\tno arguments\n";
  for (std::size_t i = 0; i < probe.arguments.size(); ++i)
    fmt::format_to(std::back_inserter(out), "\targ{}: {} {}\n", i,
                   kKinds[static_cast<std::size_t>(probe.arguments[i].kind)], probe.arguments[i].name);
  out += '\n';
}

}  // namespace

void list_probes(std::string& out, const std::vector<ProbeInfo>& probes, const std::vector<Source>& sources,
                 bool arguments) {
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
    put_probe(out, probe_id(numbers[i]), probe, name);
    if (arguments) put_arguments(out, probe);
    i = last;
  }
}

std::string describe_matches(const Script& script, const std::vector<ProbeInfo>& probes) {
  std::string out;
  std::set<std::uint32_t> told;
  for (const Clause& clause : script.program.clauses)
    for (const Enabled& enabled : clause.probes) {
      if (!told.insert(enabled.probe).second) continue;
      const ProbeInfo probe = probe_info(probes, script.program, enabled.probe);
      out += fmt::format("{}:{}:{}:{}\n", probe.provider, probe.module, probe.function, probe.name);
      put_arguments(out, probe);
    }
  return out;
}

}  // namespace vmrun::d
