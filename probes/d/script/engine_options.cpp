// SPDX-License-Identifier: Apache-2.0
// Options of dtrace. Those of the engine are set in a program; the others are known by name only.
#include "probes/d/script/engine_options.hpp"

#include <algorithm>
#include <array>
#include <limits>

#include "vm/base/near_name.hpp"

namespace vmrun::d {
namespace {

constexpr std::string_view kOthers[] = {
    "agghist",    "aggpack",    "aggrate",  "aggsortkey",  "aggsortkeypos", "aggsortpos",  "aggsortrev",
    "aggzoom",    "amin",       "argref",   "bufresize",   "cleanrate",     "core",        "cpp",
    "cpphdrs",    "cpppath",    "cpu",      "ctypes",      "debug",         "debugassert", "defaultargs",
    "define",     "disasm",     "droptags", "dtypes",      "empty",         "encoding",    "errtags",
    "evaltime",   "flowindent", "grabanon", "incdir",      "iregs",         "kdefs",       "knodefs",
    "lazyload",   "ldpath",     "libdir",   "linkmode",    "linktype",      "maxframes",   "modpath",
    "nolibs",     "noresolve",  "pgmax",    "preallocate", "pspec",         "quiet",       "quietresize",
    "rawbytes",   "setenv",     "stackfmt", "stackindent", "statusrate",    "stdc",        "strip",
    "switchrate", "syslibdir",  "sysslice", "temporal",    "tree",          "tregs",       "udefs",
    "undef",      "unodefs",    "unsetenv", "useruid",     "verbose",       "version",     "zdefs"};

/// 4, 4k, 4m, 4g, 4t
bool size_of(std::string_view text, std::uint64_t& out) {
  std::size_t i = 0;
  std::uint64_t value = 0;
  while (i < text.size() && text[i] >= '0' && text[i] <= '9') {
    if (__builtin_mul_overflow(value, 10, &value) ||
        __builtin_add_overflow(value, static_cast<std::uint64_t>(text[i] - '0'), &value))
      return false;
    i++;
  }
  if (i == 0 || text.size() - i > 1) return false;
  unsigned shift = 0;
  if (i < text.size()) {
    switch (text[i] | 0x20) {
      case 'k': shift = 10; break;
      case 'm': shift = 20; break;
      case 'g': shift = 30; break;
      case 't': shift = 40; break;
      default: return false;
    }
  }
  if (shift != 0 && value >> (64 - shift) != 0) return false;
  out = value << shift;
  return true;
}

}  // namespace

bool set_option(Options& options, std::string_view name, std::string_view value, std::string& why) {
  const auto set = [&](auto& member) {
    std::uint64_t number = 0;
    using Member = std::remove_reference_t<decltype(member)>;
    if (!size_of(value, number) || number == 0 || number > std::numeric_limits<Member>::max()) {
      why = "invalid value";
      return false;
    }
    member = static_cast<Member>(number);
    return true;
  };
  if (name == "strsize") {
    // The engine has a bound too. This one keeps frames and records in proportion.
    std::uint32_t bytes = 0;
    if (!set(bytes)) return false;
    if (bytes < 2 || bytes >= 65536) {
      why = "invalid value for specified option: 2 to 65535";
      return false;
    }
    options.strsize = bytes + 1;
    return true;
  }
  if (name == "bufsize") return set(options.bufsize);
  if (name == "aggsize") return set(options.aggsize);
  if (name == "dynvarsize") return set(options.dynvarsize);
  if (name == "specsize") return set(options.specsize);
  if (name == "scratchsize") return set(options.scratchsize);
  if (name == "nspec") return set(options.nspec);
  if (name == "jstackframes" || name == "stackframes") return set(options.stack_frames);
  if (name == "ustackframes") return set(options.ustack_frames);
  if (name == "jstackstrsize") {
    std::uint32_t ignored;
    return set(ignored);
  }
  if (name == "bufpolicy") {
    if (value == "switch") options.policy = Options::Policy::kSwitch;
    else if (value == "fill") options.policy = Options::Policy::kFill;
    else if (value == "ring") options.policy = Options::Policy::kRing;
    else {
      why = "it is switch, fill or ring";
      return false;
    }
    return true;
  }
  if (name == "destructive") {
    if (value.empty() || read_flag(value, options.destructive)) {
      options.destructive = value.empty() || options.destructive;
      return true;
    }
    why = "invalid value";
    return false;
  }
  return false;
}

std::string_view option_like(std::string_view wrong) {
  constexpr std::string_view kOffered[] = {
      "aggsize",  "aggsortkey",  "aggsortkeypos", "aggsortpos",  "aggsortrev", "argref",       "bufpolicy",
      "bufsize",  "defaultargs", "define",        "destructive", "droptags",   "dynvarsize",   "empty",
      "errtags",  "flowindent",  "incdir",        "nspec",       "quiet",      "rawbytes",     "scratchsize",
      "specsize", "stackfmt",    "stackframes",   "stackindent", "strsize",    "ustackframes", "zdefs"};
  NearName near(wrong);
  for (const std::string_view known : kOffered) near.offer(known);
  return near.found();
}

bool known_option(std::string_view name) { return std::ranges::find(kOthers, name) != std::end(kOthers); }

}  // namespace vmrun::d
