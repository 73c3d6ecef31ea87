#include "probes/d/descriptions/match.hpp"

#include <algorithm>
#include <limits>

#include "probes/d/descriptions/pattern.hpp"

namespace vmrun::d::lang {
namespace {

struct Unit {
  std::string_view name;
  std::uint64_t ns;  // 0: a rate
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
                           {"", 0},
                           {"hz", 0}};

/// tick-5sec: its interval; 0 when that is no timer, or one that nobody may have.
std::uint64_t interval_of(std::string_view name) {
  constexpr std::uint64_t kShortest = 200'000;
  if (name.starts_with("tick-")) name.remove_prefix(5);
  else if (name.starts_with("wall-")) name.remove_prefix(5);
  else if (name.starts_with("profile-")) name.remove_prefix(8);
  else return 0;
  std::uint64_t number = 0;
  std::size_t digits = 0;
  while (digits < name.size() && name[digits] >= '0' && name[digits] <= '9' && digits < 18)
    number = number * 10 + static_cast<std::uint64_t>(name[digits++] - '0');
  if (digits == 0 || number == 0) return 0;
  for (const Unit& unit : kUnits) {
    if (unit.name != name.substr(digits)) continue;
    std::uint64_t interval = 0;
    if (unit.ns == 0) interval = 1'000'000'000 / number;
    else if (__builtin_mul_overflow(number, unit.ns, &interval)) return 0;
    return interval >= kShortest && interval <= (1ull << 62) ? interval : 0;
  }
  return 0;
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
  const std::uint64_t interval = interval_of(d.name);
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

/// What somebody may have meant whose description matches nothing.
std::string hint_of(std::string_view description, bool has_target) {
  const std::string_view provider = description.substr(0, description.find(':'));
  if (provider == description) return "";
  if (provider == "erlang")
    return ": a provider has the number of its process, as in erlang*:::name and erlang$target:::name";
  if (provider.starts_with("erlang") && !has_target) return ": no -p PID or -c CMD names a machine";
  if (provider.starts_with("pid") && provider.find_first_not_of("0123456789*", 3) == std::string_view::npos)
    return ": functions of Erlang are erlang*:module:function:entry, :return and :exception";
  constexpr std::string_view kOthers[] = {"syscall", "fbt",      "sched",  "proc",
                                          "io",      "lockstat", "vminfo", "cpc"};
  if (std::ranges::find(kOthers, provider) != std::end(kOthers))
    return ": that provider is of a kernel, which is not traced";
  return "";
}

}  // namespace

bool may_name_functions(const Description& d) {
  return d.id < 0 && (is_restricting(d.module) || is_restricting(d.function) || d.name == "entry" ||
                      d.name == "return" || d.name == "exception");
}

bool functions_named(const Description& d, FunctionPattern& pattern) {
  pattern = {d.module, d.function, -1};
  const std::size_t slash = d.function.rfind('/');
  if (slash == std::string::npos || slash == 0) return true;
  const std::string arity = d.function.substr(slash + 1);
  if (arity.empty() || arity.size() > 3 ||
      !std::ranges::all_of(arity, [](char c) { return c >= '0' && c <= '9'; }))
    return false;
  pattern.arity = std::stoi(arity);
  pattern.function.resize(slash);
  return pattern.arity <= 255;
}

std::string no_match_text(std::string_view description, bool has_target) {
  return "probe description " + std::string(description) + " does not match any probes" +
         hint_of(description, has_target);
}

Description parse_description(const std::string& text, Source::Kind kind, Place place) {
  Description out;
  if (kind == Source::Kind::kId ||
      (!text.empty() && std::ranges::all_of(text, [](char c) { return c >= '0' && c <= '9'; }))) {
    if (text.empty() || text.size() > 9 ||
        !std::ranges::all_of(text, [](char c) { return c >= '0' && c <= '9'; }))
      fail(place, "D_PDESC_INVAL", "invalid probe identifier: " + text);
    out.id = std::stol(text);
    return out;
  }
  std::vector<std::string> parts(1);
  int brackets = 0;
  for (std::size_t i = 0; i < text.size(); i++) {
    const char c = text[i];
    if (c == '[') brackets++;
    if (c == ']' && brackets > 0) brackets--;
    if (c == ':' && brackets == 0) parts.emplace_back();
    else parts.back() += c;
  }
  std::vector<std::string*> to = {&out.provider, &out.module, &out.function, &out.name};
  // -P, -m, -f: the last part is that one, unless more parts are given.
  if (kind == Source::Kind::kProvider && parts.size() == 1) to.resize(1);
  if (kind == Source::Kind::kModule && parts.size() <= 2) to.resize(2);
  if (kind == Source::Kind::kFunction && parts.size() <= 3) to.resize(3);
  if (parts.size() > 4) fail(place, "D_PDESC_INVAL", "too many parts in probe description: " + text);
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
    const std::int64_t n = d.id - 4;  // probe_id
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
