// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

/// The command line of vmtrace, after dtrace(1). Plain data, which main reads once.
namespace vmrun::d {

struct CommandLine {
  struct Text {
    char option;  // s, n, P, m, f, i
    std::string value;
  };
  std::vector<Text> texts;                                   // in their order
  std::vector<std::string> pids;                             // -p
  std::vector<std::string> commands;                         // -c
  std::vector<std::string> ways;                             // --via
  std::vector<std::string> nodes;                            // --node
  std::string cookie;                                        // --cookie
  std::string relay;                                         // --relay
  std::vector<std::pair<std::string, std::string>> options;  // -x and its short forms
  std::vector<std::string> preprocessor;                     // -D, -U, -I as cpp takes them
  std::vector<std::string> arguments;                        // $1 and on
  std::string output;                                        // -o
  bool replaces = false;                                     // FILE of -o is replaced; else added to
  bool list = false;                                         // -l
  bool compile_only = false;                                 // -e
  bool disassemble = false;                                  // -S
  bool verbose = false;                                      // -v
  bool preprocess = false;                                   // -C
  bool zero_matches = false;                                 // -Z
  bool help = false;                                         // --help
  bool version = false;                                      // -V
};

/// Whether the command line names something to trace.
inline bool names_target(const CommandLine& line) {
  return !line.pids.empty() || !line.commands.empty() || !line.ways.empty() || !line.nodes.empty();
}

/// Whether the word is an option like --via, whose value is the next word unless it follows after
/// =.
bool takes_long_value(std::string_view word);

/// Returns false, with `why`, for wrong usage (exit status 2).
bool read_command_line(const std::vector<std::string>& words, CommandLine& line, std::string& why);

/// Returns the text of --help.
std::string help_text();
/// Returns its first lines, which follow the reason for wrong usage.
std::string usage_text();

}  // namespace vmrun::d
