// SPDX-License-Identifier: Apache-2.0
#include "probes/views/view_settings.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>

#include <fmt/format.h>

namespace vmrun::d {
namespace {

struct Scale {
  std::string_view suffix;
  double factor;
};

constexpr Scale kDurations[] = {{"ns", 1},   {"us", 1e3},   {"ms", 1e6}, {"s", 1e9},
                                {"m", 60e9}, {"h", 3600e9}, {"", 1e9}};
constexpr Scale kCountScales[] = {{"k", 1e3}, {"m", 1e6}, {"g", 1e9}, {"", 1}};
constexpr double kMost = 9e18;

template <std::size_t N>
bool read_scaled(std::string_view text, const Scale (&scales)[N], std::int64_t& out) {
  double value = 0;
  const auto [end, error] =
      std::from_chars(text.data(), text.data() + text.size(), value, std::chars_format::fixed);
  if (error != std::errc{} || !(value >= 0)) return false;  // also for nan
  const std::string_view suffix(end, static_cast<std::size_t>(text.data() + text.size() - end));
  for (const Scale& scale : scales)
    if (scale.suffix == suffix) {
      if (value * scale.factor > kMost) return false;
      out = std::llround(value * scale.factor);
      return true;
    }
  return false;
}

/// Options of vmtrace that a view takes as they are.
constexpr std::string_view kOfVmtrace = "pcxob";

const ViewOption* option_of(const ViewInfo& view, char letter) {
  const auto found =
      std::ranges::find_if(view.options, [&](const ViewOption& o) { return o.letter == letter; });
  return found == view.options.end() ? nullptr : &*found;
}

/// words: one|another.
bool is_one_of(std::string_view text, std::string_view words) {
  for (std::size_t at = 0; at <= words.size();) {
    const std::size_t end = std::min(words.find('|', at), words.size());
    if (words.substr(at, end - at) == text) return true;
    at = end + 1;
  }
  return false;
}

bool is_value(const ViewOption& option, const std::string& text) {
  std::int64_t n = 0;
  switch (option.kind) {
    case OptionKind::kDuration: return read_duration(text, n);
    case OptionKind::kCount: return read_count(text, n);
    case OptionKind::kChoice: return !text.empty() && is_one_of(text, option.choices);
    default: return text.find_first_of("\"\\\n") == std::string::npos;  // the value may stand in a text of D
  }
}

std::string kind_words(const ViewOption& option) {
  switch (option.kind) {
    case OptionKind::kDuration: return "a duration: 10, 500ms, 2m";
    case OptionKind::kCount: return "a number";
    case OptionKind::kChoice: return option.choices;
    default: return "a word";
  }
}

const char* placeholder(OptionKind kind) {
  switch (kind) {
    case OptionKind::kDuration: return " TIME";
    case OptionKind::kCount: return " N";
    case OptionKind::kWord:
    case OptionKind::kChoice: return " WORD";
    default: return "";
  }
}

/// Takes a letter that stands for an option of the view itself, with its value.
bool take(Settings& settings, const ViewOption& option, const std::string& value, std::string& why) {
  if (!is_value(option, value)) {
    why = fmt::format("-{} wants {}, not {}", option.letter, kind_words(option), value);
    return false;
  }
  settings.values[option.name] = value;
  return true;
}

/// Whether the text is empty or the heading of a column with numbers.
bool is_heading(const ViewInfo& view, const std::string& text, std::string& why) {
  std::string all;
  for (const ViewTable& table : view.tables)
    for (const ViewColumn& column : table.columns) {
      if (column.key != 0) continue;
      if (has_heading(column, text)) return true;
      all += fmt::format(" {}", column.heading);
    }
  if (!text.empty()) why = fmt::format("-k wants one of{}, not {}", all, text);
  return text.empty();
}

bool take_word(const std::vector<std::string>& words, std::size_t& at, Settings& settings,
               std::vector<std::string>& of_vmtrace, std::string& why) {
  const std::string& word = words[at];
  if (word == "--show-script") return settings.show_script = true;
  if (word == "--help" || word == "-h") return settings.help = true;
  if (takes_long_value(word)) {
    of_vmtrace.push_back(word);
    if (word.find('=') == std::string::npos && at + 1 < words.size()) of_vmtrace.push_back(words[++at]);
    return true;
  }
  if (word.size() < 2 || word[0] != '-') {
    const bool number = word.find_first_not_of("0123456789") == std::string::npos;
    why = fmt::format("{} is not wanted{}", word, number ? fmt::format("; did you mean -p {}?", word) : "");
    return false;
  }
  const ViewOption* option = option_of(*settings.view, word[1]);
  if (option == nullptr && kOfVmtrace.find(word[1]) == std::string_view::npos) {
    why = "illegal option -- " + word.substr(word[1] == '-' ? 0 : 1);
    return false;
  }
  if (option != nullptr && option->kind == OptionKind::kFlag) {
    settings.values[option->name] = "1";
    return true;
  }
  if (word.size() == 2 && at + 1 == words.size()) {
    why = "option requires an argument -- " + word.substr(1);
    return false;
  }
  const std::string value = word.size() > 2 ? word.substr(2) : words[++at];
  if (option != nullptr) return take(settings, *option, value, why);
  of_vmtrace.insert(of_vmtrace.end(), {word.substr(0, 2), value});
  return true;
}

/// Returns the option's value for the script. Without a value it returns nothing, and the line of
/// the script is left out.
std::string in_script(const Settings& settings, const std::string& name) {
  const auto found =
      std::ranges::find_if(settings.view->options, [&](const ViewOption& o) { return o.name == name; });
  if (found == settings.view->options.end()) return "${" + name + "}";
  if (found->kind == OptionKind::kWord || found->kind == OptionKind::kChoice) return settings.text(name);
  const std::int64_t n = settings.number(name);
  return n == 0 ? "" : std::to_string(n);
}

/// Returns false when the line is left out of the script.
bool put_values(const Settings& settings, std::string& line) {
  for (std::size_t at = 0; (at = line.find("${", at)) != std::string::npos;) {
    const std::size_t end = line.find('}', at);
    if (end == std::string::npos) return true;
    const std::string value = in_script(settings, line.substr(at + 2, end - at - 2));
    if (value.empty()) return false;
    line.replace(at, end + 1 - at, value);
    at += value.size();
  }
  return true;
}

}  // namespace

bool read_duration(std::string_view text, std::int64_t& ns) { return read_scaled(text, kDurations, ns); }
bool read_count(std::string_view text, std::int64_t& n) { return read_scaled(text, kCountScales, n); }

std::string Settings::text(const std::string& name) const {
  const auto found = values.find(name);
  return found == values.end() ? "" : found->second;
}

std::int64_t Settings::number(const std::string& name) const {
  std::int64_t n = 0;
  for (const ViewOption& option : view->options)
    if (option.name == name) {
      if (option.kind == OptionKind::kDuration) read_duration(text(name), n);
      else read_count(text(name), n);
    }
  return n;
}

bool read_settings(const ViewInfo& view, const std::vector<std::string>& words, Settings& settings,
                   std::string& why) {
  settings.view = &view;
  for (const ViewOption& option : view.options)
    if (*option.value != '\0') settings.values[option.name] = option.value;
  std::vector<std::string> of_vmtrace;
  for (std::size_t at = 0; at < words.size(); ++at)
    if (!take_word(words, at, settings, of_vmtrace, why)) return false;
  return is_heading(view, settings.text("sort"), why) && read_command_line(of_vmtrace, settings.line, why);
}

ViewScript chosen_script(const Settings& settings) {
  for (const ViewScript& script : settings.view->instead)
    if (!settings.text(script.option).empty()) return script;
  return {"", settings.view->script_name, settings.view->script};
}

std::string script_of(const Settings& settings) {
  std::string out;
  bool skips = false;  // skip to the next empty line
  for (std::string_view rest = chosen_script(settings).text; !rest.empty();) {
    const std::size_t end = std::min(rest.find('\n'), rest.size());
    std::string line(rest.substr(0, end));
    rest.remove_prefix(std::min(end + 1, rest.size()));
    const bool stays = put_values(settings, line);
    if (!stays && line.starts_with("/*")) skips = true;
    if (stays && !skips) (out += line) += '\n';
    if (line.empty()) skips = false;
  }
  return out;
}

std::string help_of(const ViewInfo& view) {
  std::string text =
      fmt::format("usage: vmtrace {} [-p PID | -c CMD] [options]\n\nShows {}.\n\n", view.name, view.purpose);
  const auto line = [&](const std::string& option, const std::string& meaning) {
    text += fmt::format("  {:<15} {}\n", option, meaning);
  };
  line("-p PID", "a vmrun by its process number; without -p and -c: yours, if just one runs");
  line("-c CMD", "a command that runs a vmrun, from its first instruction");
  line("--node NODE", "the vmrun that is this node of an Erlang cluster; --cookie C: its cookie");
  line("--via CMD", "a vmrun that CMD reaches by vmtrace --relay PID; several targets make one report");
  for (const ViewOption& o : view.options)
    line(fmt::format("-{}{}", o.letter, placeholder(o.kind)),
         fmt::format("{}{}", o.meaning, *o.value == '\0' ? "" : fmt::format(" (default {})", o.value)));
  line("-o FILE", "where the output goes");
  line("-x OPT[=V]", "an option of D: aggsize=16m, bufsize=1m, ...");
  line("--show-script", "prints the D script that this command runs, and ends");
  return text + "\nTIME: 10 or 10s, 500ms, 5us, 2m. Ctrl-C ends it, with what there is by then.\n";
}

}  // namespace vmrun::d
