// SPDX-License-Identifier: Apache-2.0
#include "probes/d/descriptions/match.hpp"

#include <algorithm>
#include <limits>

#include <fmt/format.h>

#include "probes/d/descriptions/quoted_names.hpp"
#include "probes/engine/pattern.hpp"

namespace vmrun::d::lang {
namespace {

struct Unit {
  std::string_view name;
  std::uint64_t ns;  // 0: the unit is a rate
};
constexpr Unit kUnits[] = {{"ns", 1},
                           {"nsec", 1},
                           {"us", 1'000},
                           {"usec", 1'000},
                           {"ms", 1'000'000},
                           {"msec", 1'000'000},
                           {"s", 1'000'000'000},
                           {"sec", 1'000'000'000},
                           {"m", 60'000'000'000},
                           {"min", 60'000'000'000},
                           {"h", 3600'000'000'000},
                           {"hour", 3600'000'000'000},
                           {"d", 86400'000'000'000},
                           {"day", 86400'000'000'000},
                           {"hz", 0},
                           {"", 0}};
constexpr std::uint64_t kShortestTimer = 200'000, kLongestTimer = 1ull << 62;  // ns

std::string_view timer_kind(std::string_view name) {
  for (const std::string_view kind : {"tick-", "profile-", "wall-"})
    if (name.starts_with(kind)) return kind;
  return "";
}

/// Returns 0 when the interval is out of range.
std::uint64_t interval_of(std::string_view number, const Unit& unit) {
  std::uint64_t n = 0;
  for (const char c : number)
    if (__builtin_mul_overflow(n, 10, &n) || __builtin_add_overflow(n, c - '0', &n)) return 0;
  std::uint64_t interval = 0;
  if (n == 0 || (unit.ns != 0 && __builtin_mul_overflow(n, unit.ns, &interval))) return 0;
  if (unit.ns == 0) interval = 1'000'000'000 / n;
  return interval >= kShortestTimer && interval <= kLongestTimer ? interval : 0;
}

/// Returns the interval of a timer such as tick-5sec. Returns 0 when the name is not a timer; if it
/// looks like one, `why` says what is wrong with it.
std::uint64_t interval_of(std::string_view name, std::string& why) {
  const std::string_view kind = timer_kind(name);
  if (kind.empty()) return 0;
  name.remove_prefix(kind.size());
  const std::size_t digits = std::min(name.find_first_not_of("0123456789"), name.size());
  if (digits == 0) {
    why = fmt::format("{0} needs a number: {0}100 (a rate in hz), {0}10ms", kind);
    return 0;
  }
  const Unit* unit = std::ranges::find(kUnits, name.substr(digits), &Unit::name);
  if (unit == std::end(kUnits)) {
    why = fmt::format("\"{}\" is no unit; there are", name.substr(digits));
    for (const Unit& known : kUnits)
      if (!known.name.empty()) why += fmt::format(" {}{}", known.name, known.ns == 0 ? "" : ",");
    return 0;
  }
  const std::uint64_t interval = interval_of(name.substr(0, digits), *unit);
  if (interval == 0)
    why = fmt::format("{} is out of range: the interval is {} ns to {} ns, the rate 1 hz to {} hz", name,
                      kShortestTimer, kLongestTimer, 1'000'000'000 / kShortestTimer);
  return interval;
}

bool all_digits(std::string_view text) {
  return !text.empty() && text.find_first_not_of("0123456789") == std::string_view::npos;
}

/// Reads the name in quotes at `at`, as a pattern; `at` moves behind it.
std::string quoted_part(const std::string& text, std::size_t& at, Place place) {
  const std::size_t end = quoted_end(text, at);
  if (end == std::string::npos)
    fail(place, "D_PDESC_INVAL", "a name has no closing quote in probe description: " + text);
  std::string name, why;
  if (!read_quoted(std::string_view(text).substr(at + 1, end - at - 2), name, why))
    fail(place, "D_PDESC_INVAL", why + ", in probe description: " + text);
  at = end;
  return literal_pattern(name);
}

/// Returns what stands between the colons, as patterns.
std::vector<std::string> parts_of(const std::string& text, Place place) {
  std::vector<std::string> parts(1);
  int brackets = 0;
  bool has_colon = false;  // the open bracket has one inside
  for (std::size_t at = 0; at < text.size();) {
    const char c = text[at];
    if (c == '\'') {
      parts.back() += quoted_part(text, at, place);
      continue;
    }
    if (c == '[') brackets++;
    if (c == ']' && brackets > 0) brackets--;
    has_colon = brackets != 0 && (has_colon || c == ':');
    if (c == ':' && brackets == 0) parts.emplace_back();
    else parts.back() += c;
    at++;
    if (c == '\\' && at < text.size()) parts.back() += text[at++];
  }
  if (has_colon) fail(place, "D_PDESC_INVAL", "a [ has no ] in probe description: " + text);
  return parts;
}

/// Finds the slash of reverse/1. A slash that is part of a name has a backslash before it.
std::size_t arity_slash(std::string_view function) {
  std::size_t slash = std::string_view::npos;
  for (std::size_t at = 0; at < function.size(); at++) {
    if (function[at] == '\\') at++;
    else if (function[at] == '/') slash = at;
  }
  return slash;
}

bool empty_or_any(const std::string& pattern) { return matches(pattern, ""); }

void enable(Matched& matched, Enabled enabled, const ProbeInfo* probe) {
  std::string key = std::to_string(enabled.probe);
  if (probe != nullptr && probe->of_function)
    key += ':' + enabled.module + ':' + enabled.function + '/' + std::to_string(enabled.arity);
  if (!matched.known.insert(std::move(key)).second) return;
  matched.enabled.push_back(std::move(enabled));
  matched.probes.push_back(probe);
}

std::size_t match_timer(const Description& d, Program& program, Matched& matched) {
  if (!matches(d.provider, "profile") || !empty_or_any(d.module) || !empty_or_any(d.function)) return 0;
  std::string why;
  const std::uint64_t interval = interval_of(d.name, why);
  if (interval == 0) return 0;
  std::uint32_t n = 0;
  while (n < program.timers.size() && program.timers[n].name != d.name) n++;
  if (n == program.timers.size())
    program.timers.push_back({.name = d.name,
                              .interval_ns = interval,
                              .profile = !d.name.starts_with("tick"),
                              .wall = d.name.starts_with("wall")});
  enable(matched, {.probe = kFirstTimerProbe + n}, nullptr);
  return 1;
}

std::size_t match_own(const Description& d, Matched& matched) {
  if (!matches(d.provider, "dtrace") || !empty_or_any(d.module) || !empty_or_any(d.function)) return 0;
  std::size_t count = 0;
  for (const auto& [name, number] :
       {std::pair{"BEGIN", kBeginProbe}, std::pair{"END", kEndProbe}, std::pair{"ERROR", kErrorProbe}}) {
    if (!matches(d.name, name)) continue;
    enable(matched, {.probe = number}, nullptr);
    count++;
  }
  return count;
}

bool is_restricting(const std::string& pattern) {
  return pattern.find_first_not_of('*') != std::string::npos;
}

std::size_t match_functions(const Description& d, const Matchable& there_is, Matched& matched) {
  FunctionPattern pattern;
  if (!there_is.count_functions || there_is.probes.empty() ||
      !matches(d.provider, there_is.probes.front().provider) || !may_name_functions(d) ||
      !functions_named(d, pattern))
    return 0;
  std::size_t kinds = 0;
  for (const auto event : {FunctionEvent::kEntry, FunctionEvent::kReturn, FunctionEvent::kException}) {
    const ProbeInfo& probe = function_probe_info(event);
    if (!matches(d.name, probe.name)) continue;
    enable(matched,
           {.probe = any_function_probe(event),
            .module = pattern.module,
            .function = pattern.function,
            .arity = pattern.arity},
           &probe);
    kinds++;
  }
  return kinds == 0 ? 0 : kinds * there_is.count_functions(pattern);
}

std::string why_no_own(const Description& d) {
  if (d.name != "BEGIN" && d.name != "END" && d.name != "ERROR") return "";
  if (!matches(d.provider, "dtrace")) return "that probe is of the provider dtrace";
  return "that probe has neither module nor function";
}

std::string why_no_timer(const Description& d) {
  std::string why;
  const std::uint64_t interval = interval_of(d.name, why);
  if (interval == 0 && why.empty())
    return d.provider == "profile" ? "the probes of profile are tick-N, profile-N and wall-N" : "";
  if (!matches(d.provider, "profile")) return "timers are of the provider profile";
  if (!empty_or_any(d.module) || !empty_or_any(d.function)) return "a timer has neither module nor function";
  return why;
}

std::string why_no_provider(const std::string& provider, bool has_target) {
  if (provider == "erlang")
    return "a provider has the number of its process, as in erlang*:::name and erlang$target:::name";
  if (provider.starts_with("erlang") && !has_target) return "no -p PID or -c CMD names a machine";
  if (provider.starts_with("pid") && provider.find_first_not_of("0123456789*", 3) == std::string::npos)
    return "functions of Erlang are erlang*:module:function:entry, :return and :exception";
  constexpr std::string_view kOthers[] = {"syscall", "fbt",      "sched",  "proc",
                                          "io",      "lockstat", "vminfo", "cpc"};
  if (std::ranges::find(kOthers, provider) != std::end(kOthers))
    return "that provider is of a kernel, which is not traced";
  return "";
}

std::string why_no_name(const Description& d) {
  if (d.name.find("__") != std::string::npos) return "names of probes are written with - for __";
  FunctionPattern pattern;
  if (!functions_named(d, pattern)) return "an arity is a number up to 255";
  return "";
}

}  // namespace

const std::vector<std::string_view>& timer_units() {
  static const std::vector<std::string_view> kNames = [] {
    std::vector<std::string_view> names;
    for (const Unit& unit : kUnits)
      if (!unit.name.empty()) names.push_back(unit.name);
    return names;
  }();
  return kNames;
}

bool may_name_functions(const Description& d) {
  return d.id < 0 && (is_restricting(d.module) || is_restricting(d.function) || d.name == "entry" ||
                      d.name == "return" || d.name == "exception");
}

bool functions_named(const Description& d, FunctionPattern& pattern) {
  pattern = {d.module, d.function, -1};
  const std::size_t slash = arity_slash(d.function);
  if (slash == std::string::npos) return true;
  const std::string arity = d.function.substr(slash + 1);
  if (arity.empty() || arity.size() > 3 || !all_digits(arity)) return false;
  pattern.arity = std::stoi(arity);
  pattern.function.resize(slash);
  return pattern.arity <= 255;
}

std::string why_no_match(const Description& d, const std::vector<ProbeInfo>& probes) {
  if (d.id >= 0) return fmt::format("the numbers of probes are 1 to {}", probes.size() + 3);
  for (std::string why :
       {why_no_own(d), why_no_timer(d), why_no_provider(d.provider, !probes.empty()), why_no_name(d)})
    if (!why.empty()) return why;
  return "";
}

std::string no_match_reason(const ClauseInfo::Matched& matched) {
  if (!matched.meant.empty()) return did_you_mean(matched.meant);
  return matched.why_none.empty() ? "" : ": " + matched.why_none;
}

std::string no_match_text(const ClauseInfo::Matched& matched) {
  return "probe description " + matched.description + " does not match any probes" + no_match_reason(matched);
}

Description parse_description(const std::string& text, Source::Kind kind, Place place) {
  Description out;
  if (kind == Source::Kind::kId || all_digits(text)) {
    if (text.size() > 9 || !all_digits(text))
      fail(place, "D_PDESC_INVAL", "invalid probe identifier: " + text);
    out.id = std::stol(text);
    return out;
  }
  std::vector<std::string> parts = parts_of(text, place);
  std::vector<std::string*> to = {&out.provider, &out.module, &out.function, &out.name};
  // With -P, -m and -f, the last part is the provider, module or function, unless more parts are
  // given.
  if (kind == Source::Kind::kProvider && parts.size() == 1) to.resize(1);
  if (kind == Source::Kind::kModule && parts.size() <= 2) to.resize(2);
  if (kind == Source::Kind::kFunction && parts.size() <= 3) to.resize(3);
  if (parts.size() > 4)
    fail(place, "D_PDESC_INVAL",
         "too many parts in probe description: " + text + ": a name with colons stands in single quotes");
  while (!parts.empty()) {
    *to.back() = std::move(parts.back());
    parts.pop_back();
    to.pop_back();
  }
  return out;
}

std::size_t match(const Description& d, const Matchable& there_is, Program& program, Matched& matched) {
  const std::vector<ProbeInfo>& probes = there_is.probes;
  std::size_t count = 0;
  if (d.id >= 0) {
    if (d.id >= 1 && d.id <= 3) {
      enable(matched, {.probe = kBeginProbe + static_cast<std::uint32_t>(d.id) - 1}, nullptr);
      return 1;
    }
    const std::int64_t n = d.id - 4;  // the reverse of probe_id
    if (n < 0 || n >= static_cast<std::int64_t>(probes.size())) return 0;
    enable(matched, {.probe = static_cast<std::uint32_t>(n)}, &probes[static_cast<std::size_t>(n)]);
    return 1;
  }
  count += match_own(d, matched);
  for (std::uint32_t n = 0; n < probes.size(); n++) {
    const ProbeInfo& probe = probes[n];
    if (!matches(d.provider, probe.provider) || !matches(d.module, probe.module) ||
        !matches(d.function, probe.function) || !matches(d.name, probe.name))
      continue;
    enable(matched, {.probe = n}, &probe);
    count++;
  }
  count += match_timer(d, program, matched);
  return count + match_functions(d, there_is, matched);
}

}  // namespace vmrun::d::lang
