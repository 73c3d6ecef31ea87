// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "probes/views/views.hpp"
#include "probes/vmtrace/command_line.hpp"

/// The command line of a view, and the script that results from it. Plain data of the main thread.
namespace vmrun::d {

struct Settings {
  const ViewInfo* view = nullptr;
  CommandLine line;                           // -p, -c, -x, -o: as for vmtrace without a view
  std::map<std::string, std::string> values;  // of the view's options, by name, as given
  bool show_script = false, help = false;
  // Where the output goes. This is filled in when it begins.
  bool terminal = false;
  std::size_t width = 0, height = 0;  // characters of the terminal; 0: unknown
  std::string target;                 // what is traced, in words

  /// Returns the number of an option; durations are in nanoseconds. Without a value it is 0.
  std::int64_t number(const std::string& name) const;
  std::string text(const std::string& name) const;
};

/// words: those behind the view's name. Returns false, with `why`, for wrong usage.
bool read_settings(const ViewInfo& view, const std::vector<std::string>& words, Settings& settings,
                   std::string& why);

/// Reads 500ms, 2, 1.5s, 5us or 10m as nanoseconds. Without a unit, the number is seconds. Returns
/// false when the text is not a duration.
bool read_duration(std::string_view text, std::int64_t& ns);
/// Reads 20, 5k or 2m (thousands and millions). Returns false when the text is not a count.
bool read_count(std::string_view text, std::int64_t& n);

/// Returns the one of its scripts that a view runs.
ViewScript chosen_script(const Settings& settings);
/// Returns the script of a view with its options put in, as --show-script prints it.
std::string script_of(const Settings& settings);

/// Returns the text of `vmtrace NAME --help`.
std::string help_of(const ViewInfo& view);

}  // namespace vmrun::d
