#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "probes/views/views.hpp"
#include "probes/vmtrace/options.hpp"

/// The command line of a view, and the script it makes of it. Plain data of the main thread.
namespace vmrun::d {

struct Settings {
  const ViewInfo* view = nullptr;
  CommandLine line;                           // -p, -c, -x, -o: as vmtrace without a view has them
  std::map<std::string, std::string> values;  // of the view's options, by name, as they were given
  bool show_script = false, help = false;
  // Where the output goes; filled in when it begins.
  bool terminal = false;
  std::size_t width = 0, height = 0;  // characters of the terminal; 0: nobody knows
  std::string target;                 // what is traced, in words

  /// Durations in nanoseconds; without a value 0.
  std::int64_t number(const std::string& name) const;
  std::string text(const std::string& name) const;
};

/// words: those behind the view's name. False, with `why`: wrong usage.
bool read_settings(const ViewInfo& view, const std::vector<std::string>& words, Settings& settings,
                   std::string& why);

/// 500ms, 2, 1.5s, 5us, 10m: nanoseconds. Without a unit seconds. False: it is no duration.
bool read_duration(std::string_view text, std::int64_t& ns);
/// 20, 5k, 2m (thousands and millions). False: it is no count.
bool read_count(std::string_view text, std::int64_t& n);

/// Which of its scripts a view runs.
ViewScript chosen_script(const Settings& settings);
/// The script of a view with its options put in, as --show-script prints it.
std::string script_of(const Settings& settings);

/// The text of `vmtrace NAME --help`.
std::string help_of(const ViewInfo& view);

}  // namespace vmrun::d
