// SPDX-License-Identifier: Apache-2.0
#include "runtime/cli/erl_flags.hpp"

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <string_view>

#include <fmt/core.h>

#include "runtime/cli/options.hpp"
#include "vm/base/processors.hpp"
#include "vm/base/release.hpp"

namespace vmrun::cli {
namespace {

using Words = std::vector<std::string>;
using Error = std::optional<std::string>;

/// Where a flag's value is. kAttached: the rest of the same word, if any; kOptional: the next word,
/// if it is one of the flag's values; kLetter: either of these; kAllocator: like kNeeded, after the
/// name of a parameter.
enum class Value { kNone, kNeeded, kAttached, kOptional, kLetter, kAllocator };

struct Flag {
  std::string_view name;
  Value value;
  /// The values it may have: words separated by |, or LOW-HIGH, a number. Empty: anything, or what
  /// vmrun's own flag allows.
  std::string_view allowed;
  std::string_view ours = {};  // vmrun's own flag; empty: the flag has no effect here
  /// Words of `allowed` that ask for behaviour which this machine does not have, and the reason.
  std::string_view refused = {}, reason = {};
};

constexpr std::string_view kBoolean = "true|false", kNumber = "0-4294967295";
constexpr std::string_view kBusyWait = "none|very_short|short|medium|long|very_long";
constexpr std::string_view kWakeUp = "very_low|low|medium|high|very_high";
constexpr std::string_view kCleanUp = "very_lazy|lazy|medium|eager|very_eager";
constexpr std::string_view kStackKilowords = "20-8192";

// The flags of erl(1) in its order. If several names match, the longest one counts. docs/otp.md,
// "Flags of the machine", says why some have no effect.
constexpr Flag kFlags[] = {
    {"+a", Value::kNeeded, "16-8192"},
    {"+A", Value::kNeeded, "", "+A"},
    {"+B", Value::kLetter, "i|c|d", "+B"},
    {"+c", Value::kOptional, kBoolean, "+c"},
    {"+C", Value::kNeeded, "", "+C"},
    {"+d", Value::kNone, ""},
    {"+D", Value::kNone, "", "+D"},
    {"+Dibpl", Value::kNeeded, kBoolean, "+Dibpl"},
    {"+dcg", Value::kNeeded, kNumber},
    {"+e", Value::kNeeded, "", "+e"},
    {"+ec", Value::kNone, ""},
    {"+fn", Value::kAttached, "u|uw|ui|ue|a|aw|ai|ae|l", "+fn", "l", "names of files are UTF-8"},
    {"+h", Value::kNeeded, "", "+hms"},
    {"+hms", Value::kNeeded, "", "+hms"},
    {"+hmbs", Value::kNeeded, "1-4294967295"},
    {"+hmax", Value::kNeeded, "", "+hmax"},
    {"+hmaxel", Value::kNeeded, "", "+hmaxel"},
    {"+hmaxib", Value::kNeeded, "", "+hmaxib"},
    {"+hmaxk", Value::kNeeded, "", "+hmaxk"},
    {"+hpds", Value::kNeeded, "1-4294967295"},
    {"+hmqd", Value::kNeeded, "", "+hmqd"},
    {"+IOp", Value::kNeeded, "1-1024"},
    {"+IOt", Value::kNeeded, "1-1024"},
    {"+IOPp", Value::kNeeded, "0-100"},
    {"+IOPt", Value::kNeeded, "0-100"},
    {"+IOs", Value::kNeeded, kBoolean},
    {"+JDdump", Value::kNeeded, kBoolean, "+JDdump"},
    {"+JPcover", Value::kNeeded, "true|false|function|function_counters|line|line_counters", "+JPcover"},
    {"+JPperf", Value::kNeeded, "true|false|dump|map|fp|no_fp", "+JPperf"},
    {"+JPperfdirectory", Value::kNeeded, "", "+JPperfdirectory"},
    {"+JMsingle", Value::kNeeded, kBoolean},
    {"+K", Value::kNeeded, ""},
    {"+L", Value::kNone, "", "+L"},
    {"+M", Value::kAllocator, ""},
    {"+n", Value::kNeeded, ""},
    {"+pad", Value::kNeeded, "", "+pad"},
    {"+pc", Value::kNeeded, "", "+pc"},
    {"+P", Value::kNeeded, "", "+P"},
    {"+Q", Value::kNeeded, "", "+Q"},
    {"+R", Value::kNeeded, ""},
    {"+r", Value::kNone, ""},
    {"+rg", Value::kNeeded, kNumber},
    {"+S", Value::kNeeded, "", "+S"},
    {"+SP", Value::kNeeded, "", "+SP"},
    {"+SDcpu", Value::kNeeded, "", "+SDcpu"},
    {"+SDPcpu", Value::kNeeded, "", "+SDPcpu"},
    {"+SDio", Value::kNeeded, "", "+SDio"},
    {"+sbt", Value::kNeeded, "", "+sbt"},
    {"+sbwt", Value::kNeeded, kBusyWait},
    {"+sbwtdcpu", Value::kNeeded, kBusyWait},
    {"+sbwtdio", Value::kNeeded, kBusyWait},
    {"+scl", Value::kNeeded, kBoolean},
    {"+sct", Value::kNeeded, "", "+sct"},
    {"+secio", Value::kNeeded, kBoolean},
    {"+sfwi", Value::kNeeded, kNumber},
    {"+spp", Value::kNeeded, "", "+spp"},
    {"+sss", Value::kNeeded, kStackKilowords},
    {"+sssdcpu", Value::kNeeded, kStackKilowords},
    {"+sssdio", Value::kNeeded, kStackKilowords},
    {"+stbt", Value::kNeeded, "", "+stbt"},
    {"+ssrct", Value::kNone, "", "+ssrct"},
    {"+sub", Value::kNeeded, kBoolean},
    {"+sws", Value::kNeeded, "default|legacy"},
    {"+swct", Value::kNeeded, kCleanUp},
    {"+swt", Value::kNeeded, kWakeUp},
    {"+swtdcpu", Value::kNeeded, kWakeUp},
    {"+swtdio", Value::kNeeded, kWakeUp},
    {"+t", Value::kNeeded, "", "+t"},
    {"+T", Value::kNeeded, "", "+T"},
    {"+v", Value::kNone, ""},
    {"+V", Value::kNone, "", "+V"},
    {"+W", Value::kNeeded, "", "+W"},
    {"+zdbbl", Value::kNeeded, "", "+zdbbl"},
    {"+zdntgc", Value::kNeeded, "", "+zdntgc"},
    {"+zhft", Value::kNeeded, "infinity|0-2147483647", "+zhft"},
    {"+zebwt", Value::kNeeded, "none|very_short|short|medium|long|very_long"},
    {"+zosrl", Value::kNeeded, "", "+zosrl"},
};

/// Whether erl of this release has the flag.
bool is_known(std::string_view name) {
  const auto later = std::ranges::find(kLaterFlags, name, [](const auto& flag) { return flag.name; });
  return later == std::end(kLaterFlags) || release_number >= later->since;
}

const Flag* find_flag(std::string_view word) {
  const Flag* best = nullptr;
  for (const Flag& flag : kFlags)
    if (word.starts_with(flag.name) && is_known(flag.name) && (!best || flag.name.size() > best->name.size()))
      best = &flag;
  return best;
}

bool read_number(std::string_view text, unsigned long long* out) {
  const auto [rest, error] = std::from_chars(text.data(), text.data() + text.size(), *out);
  return error == std::errc{} && rest == text.data() + text.size();
}

/// Whether the value is a number of the range LOW-HIGH, or that word.
bool fits(std::string_view one, std::string_view value) {
  const std::size_t dash = one.find('-');
  unsigned long long low, high, n;
  if (dash != std::string_view::npos && read_number(one.substr(0, dash), &low) &&
      read_number(one.substr(dash + 1), &high))
    return read_number(value, &n) && n >= low && n <= high;
  return one == value;
}

bool is_one_of(std::string_view allowed, std::string_view value) {
  while (!allowed.empty()) {
    const std::size_t end = std::min(allowed.find('|'), allowed.size());
    if (fits(allowed.substr(0, end), value)) return true;
    allowed.remove_prefix(std::min(end + 1, allowed.size()));
  }
  return false;
}

// ---- Memory allocators ----

constexpr std::string_view kOfAllocators[] = {
    "acul", "acnl",  "acfml", "acful", "asbcst", "as",     "atags",  "cp",   "e",    "lmbcs", "mbcgs",
    "mbsd", "mmbcs", "mmmbc", "mmsbc", "rsbcmt", "rsbcst", "rmbcmt", "ramv", "sbct", "smbcs", "t"};
constexpr std::string_view kOthers[] = {"Iscs",   "Mamcbf",  "Mrmcbf", "Mmcs", "Mscs", "Msco",
                                        "Mscrpm", "Mscrfsd", "Ytt",    "Ytp",  "Ym",   "Ye",
                                        "ea",     "lpm",     "dai",    "uycs", "ummc", "usac"};

/// Returns the length of the parameter's name behind +M, or 0 when it is not a parameter.
std::size_t parameter_size(std::string_view text) {
  std::size_t size = 0;
  for (const std::string_view name : kOthers)
    if (text.starts_with(name)) size = std::max(size, name.size());
  if (size || text.size() < 2 || std::string_view("BDEFHILRSTZu").find(text[0]) == std::string_view::npos)
    return size;
  for (const std::string_view name : kOfAllocators)
    if (text.substr(1).starts_with(name)) size = std::max(size, 1 + name.size());
  return size;
}

/// Values of +R are releases, and of no effect.
std::string allowed_values(const Flag& flag) {
  if (flag.name != "+R") return std::string(flag.allowed);
  return fmt::format("{}-{}", release_number - 2, release_number);
}

// ---- Percentages of the processors ----

/// Flags of vmrun's own. +SDcpu takes N or N:M; as in OTP, M defaults to N. +SP takes the
/// percentages, because +S may still come.
struct Percentage {
  std::string_view name, ours;
};
constexpr Percentage kPercentages[] = {{"+SP", "+SP"}, {"+SDPcpu", "+SDcpu"}};

/// Translates percentages P[:Q] or :Q of the processors to numbers N[:M]. Q counts processors that
/// may be used. A missing part gives 0, others at least 1. Returns nothing when the value is bad.
std::optional<std::string> share_of_processors(std::string_view value) {
  const Processors there = processors();
  const std::size_t colon = value.find(':');
  const bool has_online = colon != std::string_view::npos;
  const auto share = [](std::string_view part, unsigned of) -> std::optional<unsigned long long> {
    unsigned long long percent;
    if (part.empty()) return 0;
    if (!read_number(part, &percent)) return {};
    return std::max(1ull, of * percent / 100);
  };
  const auto number = share(value.substr(0, colon), there.configured),
             online = share(has_online ? value.substr(colon + 1) : "", there.usable());
  if (value.empty() || !number || !online) return {};
  return has_online ? fmt::format("{}:{}", *number, *online) : fmt::format("{}", *number);
}

Error append_ours(const Flag& flag, const std::string& value, Words* ours) {
  for (const Percentage& p : kPercentages) {
    if (p.name != flag.ours) continue;
    const std::optional<std::string> shares = share_of_processors(value);
    if (!shares) return fmt::format("bad value of flag {}: '{}'", flag.name, value);
    ours->insert(ours->end(), {std::string(p.ours), p.ours == p.name ? value : *shares});
    return {};
  }
  if (flag.value == Value::kAttached || flag.value == Value::kLetter) {
    ours->push_back(std::string(flag.ours) + value);
    return {};
  }
  ours->emplace_back(flag.ours);
  if (flag.value == Value::kOptional) ours->push_back(value.empty() ? "false" : value);
  else if (flag.value != Value::kNone) ours->push_back(value);
  return {};
}

/// Takes a flag that only this machine has, for stress tests and checking.
Error take_own(const Words& words, std::size_t* i, bool with_value, Words* ours) {
  const std::string& word = words[*i];
  ours->push_back(word);
  if (!with_value) return {};
  if (*i + 1 == words.size()) return fmt::format("flag {} needs a value", word);
  ours->push_back(words[++*i]);
  return {};
}

}  // namespace

std::optional<std::string> take_erl_flag(const Words& words, std::size_t* i, Words* ours) {
  const std::string& word = words[*i];
  if (!is_known(word)) return fmt::format("unknown flag '{}'", word);
  const Flag* flag = find_flag(word);
  // It is a flag of vmrun's own only as a whole word: +random-sched is not +r with a value.
  if (!flag || word.size() > flag->name.size()) {
    const std::optional<bool> with_value = own_flag_takes_value(word);
    if (with_value) return take_own(words, i, *with_value, ours);
    if (!flag) return fmt::format("unknown flag '{}'", word);
  }
  std::string name(flag->name), value = word.substr(name.size());
  if (flag->value == Value::kAllocator) {
    const std::size_t size = parameter_size(value);
    if (!size) return fmt::format("bad value of flag {}: '{}'", name, value);
    name += value.substr(0, size);
    value.erase(0, size);
  }
  if (flag->value == Value::kNone && !value.empty())
    return fmt::format("bad value of flag {}: '{}'", name, value);
  if ((flag->value == Value::kNeeded || flag->value == Value::kAllocator) && value.empty()) {
    if (*i + 1 == words.size()) return fmt::format("flag {} needs a value", name);
    value = words[++*i];
  }
  const bool takes_next = flag->value == Value::kOptional || flag->value == Value::kLetter;
  if (takes_next && value.empty() && *i + 1 < words.size() && is_one_of(flag->allowed, words[*i + 1]))
    value = words[++*i];
  const bool may_be_empty = flag->value == Value::kNone || takes_next;
  const std::string allowed = allowed_values(*flag);
  if (!allowed.empty() && !is_one_of(allowed, value) && !(may_be_empty && value.empty()))
    return fmt::format("bad value of flag {}: '{}'", name, value);
  if (!flag->refused.empty() && is_one_of(flag->refused, value))
    return fmt::format("not supported: {}{}{}: {}", name, flag->value == Value::kAttached ? "" : " ", value,
                       flag->reason);
  return flag->ours.empty() ? Error{} : append_ours(*flag, value, ours);
}

}  // namespace vmrun::cli
