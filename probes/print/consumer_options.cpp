// SPDX-License-Identifier: Apache-2.0
#include "probes/print/consumer_options.hpp"

#include <charconv>

#include <fmt/format.h>

#include "probes/d/script/engine_options.hpp"

namespace vmrun::d {
namespace {

bool set_flag(std::string_view value, bool& flag, std::string& why) {
  if (value.empty()) flag = true;
  else if (!read_flag(value, flag)) why = "Invalid value for specified option";
  return true;
}

bool read_number(std::string_view value, std::size_t& n, std::string& why) {
  const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), n);
  if (error != std::errc{} || end != value.data() + value.size()) why = "Invalid value for specified option";
  return true;
}

}  // namespace

bool ConsumerOptions::set(std::string_view name, std::string_view value, std::string& why) {
  if (name == "quiet") return set_flag(value, quiet, why);
  if (name == "flowindent") return set_flag(value, flow_indent, why);
  if (name == "destructive") return set_flag(value, destructive, why);
  if (name == "errtags") return set_flag(value, error_tags, why);
  if (name == "droptags") return set_flag(value, drop_tags, why);
  if (name == "rawbytes") return set_flag(value, tables.raw_bytes, why);
  if (name == "aggsortkey") return set_flag(value, tables.sort.by_key, why);
  if (name == "aggsortrev") return set_flag(value, tables.sort.reversed, why);
  if (name == "aggsortpos") return read_number(value, tables.sort.position, why);
  if (name == "aggsortkeypos") return read_number(value, tables.sort.key_position, why);
  if (name == "stackindent") return read_number(value, tables.stack_indent, why);
  if (name == "stackfmt") {
    if (value == "folded" || value == "lines") tables.folded = value == "folded";
    else why = "Invalid value for specified option";
    return true;
  }
  // These are rates of a consumer that sleeps. This one reads as soon as there is something.
  return name == "switchrate" || name == "aggrate" || name == "statusrate" || name == "cleanrate" ||
         name == "bufresize" || name == "cpp" || name == "zdefs" || name == "empty" ||
         name == "defaultargs" || name == "unodefs" || name == "argref" || name == "amin" ||
         name == "scratchsize" || name == "maxframes" || name == "define" || name == "undef" ||
         name == "stdc" || name == "incdir" || name == "strip" || name == "linkmode" || name == "nolibs";
}

std::string ConsumerOptions::set_by_script(std::string_view name, std::string_view value) {
  std::string why;
  if (!set(name, value, why)) why = "Invalid option name";
  return why.empty() ? "" : fmt::format("couldn't set option \"{}\" to \"{}\": {}", name, value, why);
}

}  // namespace vmrun::d
