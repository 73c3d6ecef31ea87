// SPDX-License-Identifier: Apache-2.0
#include "probes/vmtrace/command_line.hpp"

#include <algorithm>
#include <cstring>
#include <iterator>

#include "vm/base/near_name.hpp"

namespace vmrun::d {
namespace {

constexpr const char* kWithValue = "snPmfipcxoDUIb";
constexpr const char* kFlags = "lqeSvwZCFHVh";
constexpr std::string_view kLongWithValue[] = {"--via", "--node", "--cookie", "--relay"};
constexpr std::string_view kLongFlags[] = {"--help", "--version"};

/// Returns the end of a message about an option that does not exist.
std::string option_hint(std::string_view word) {
  const std::string_view name = word.substr(std::min(word.find_first_not_of('-'), word.size()));
  NearName near(name);
  std::string_view meant;
  const auto offer = [&](std::string_view known) {
    if (known.substr(2) == name || near.offer(known.substr(2))) meant = known;
  };
  std::ranges::for_each(kLongWithValue, offer);
  std::ranges::for_each(kLongFlags, offer);
  return meant.empty() ? "" : "; did you mean " + std::string(meant) + "?";
}

/// Takes an option of the preprocessor, which is not passed on to the compiler. is_good becomes
/// false when the value is wrong.
bool for_preprocessor(CommandLine& line, std::string_view name, std::string_view value, bool& is_good) {
  constexpr std::pair<std::string_view, std::string_view> kFlagOf[] = {
      {"define", "-D"}, {"undef", "-U"}, {"incdir", "-I"}};
  if (name == "cpphdrs" && value.empty()) return line.preprocessor.emplace_back("-H"), true;
  for (const auto& [option, flag] : kFlagOf)
    if (name == option) return line.preprocessor.push_back(std::string(flag).append(value)), true;
  if (name == "cpp" && value.empty()) return line.preprocess = true;
  if (name != "stdc") return false;
  is_good = value == "a" || value == "c" || value == "s" || value == "t";
  if (value == "s") line.preprocessor.emplace_back("-traditional-cpp");
  return true;
}

bool take_option(CommandLine& line, std::string_view text) {
  const auto at = text.find('=');
  const std::string_view name = text.substr(0, at),
                         value = at == std::string_view::npos ? "" : text.substr(at + 1);
  bool is_good = true;
  if (!for_preprocessor(line, name, value, is_good)) line.options.emplace_back(name, value);
  return is_good;
}

void take_value(CommandLine& line, char letter, const std::string& value) {
  switch (letter) {
    case 'p': line.pids.push_back(value); return;
    case 'c': line.commands.push_back(value); return;
    case 'x':
      if (!take_option(line, value)) line.options.emplace_back(value, "");  // the compiler refuses it
      return;
    case 'b': line.options.emplace_back("bufsize", value); return;
    case 'o': line.output = value; return;
    case 'D':
    case 'U':
    case 'I': line.preprocessor.push_back(std::string("-") + letter + value); return;
    default: line.texts.push_back({letter, value});
  }
}

void take_flag(CommandLine& line, char letter) {
  switch (letter) {
    case 'l': line.list = true; return;
    case 'q': line.options.emplace_back("quiet", ""); return;
    case 'w': line.options.emplace_back("destructive", ""); return;
    case 'F': line.options.emplace_back("flowindent", ""); return;
    case 'e': line.compile_only = true; return;
    case 'S': line.disassemble = true; return;
    case 'v': line.verbose = true; return;
    case 'Z': line.zero_matches = true; return;
    case 'C': line.preprocess = true; return;
    case 'H': line.preprocessor.emplace_back("-H"); return;
    case 'V': line.version = true; return;
    default: line.help = true;
  }
}

/// A probe may be followed by a predicate and an action as separate words.
void take_clause(const std::vector<std::string>& words, std::size_t& at, CommandLine& line, char letter) {
  if (std::strchr("nPmfi", letter) == nullptr) return;
  while (at + 1 < words.size() && !words[at + 1].empty() && std::strchr("/{", words[at + 1][0]) != nullptr)
    (line.texts.back().value += ' ') += words[++at];
}

/// Takes a word of letters: -qs FILE, -qsFILE.
bool take_word(const std::vector<std::string>& words, std::size_t& at, CommandLine& line, std::string& why) {
  const std::string& word = words[at];
  for (std::size_t i = 1; i < word.size(); ++i) {
    const char letter = word[i];
    if (std::strchr(kFlags, letter) != nullptr) {
      take_flag(line, letter);
    } else if (std::strchr(kWithValue, letter) == nullptr) {
      why = std::string("illegal option -- ") + letter + option_hint(word);
      return false;
    } else if (i + 1 < word.size()) {
      take_value(line, letter, word.substr(i + 1));
      take_clause(words, at, line, letter);
      return true;
    } else if (++at < words.size()) {
      take_value(line, letter, words[at]);
      take_clause(words, at, line, letter);
      return true;
    } else {
      why = std::string("option requires an argument -- ") + letter + option_hint(word);
      return false;
    }
  }
  return true;
}

/// Returns false and says `why` when the option is wrong.
bool take_long(const std::vector<std::string>& words, std::size_t& at, CommandLine& line, std::string& why) {
  const std::string& word = words[at];
  const auto equals = word.find('=');
  const std::string name = word.substr(2, equals == std::string::npos ? equals : equals - 2);
  if (!takes_long_value(word))
    return why = "illegal option -- " + word + option_hint(word.substr(0, equals)), false;
  if (equals == std::string::npos && at + 1 >= words.size())
    return why = "option requires an argument -- " + name, false;
  const std::string value = equals == std::string::npos ? words[++at] : word.substr(equals + 1);
  if (name == "via") line.ways.push_back(value);
  else if (name == "node") line.nodes.push_back(value);
  else (name == "cookie" ? line.cookie : line.relay) = value;
  return true;
}

}  // namespace

bool takes_long_value(std::string_view word) {
  return std::ranges::find(kLongWithValue, word.substr(0, word.find('='))) != std::end(kLongWithValue);
}

bool read_command_line(const std::vector<std::string>& words, CommandLine& line, std::string& why) {
  bool only_arguments = false;
  for (std::size_t at = 0; at < words.size(); ++at) {
    const std::string& word = words[at];
    if (only_arguments || word.size() < 2 || word[0] != '-') {
      line.arguments.push_back(word);
    } else if (word == "--") {
      only_arguments = true;
    } else if (word == "--help") {
      line.help = true;
    } else if (word == "--version") {
      line.version = true;
    } else if (word[1] == '-') {
      if (!take_long(words, at, line, why)) return false;
    } else if (!take_word(words, at, line, why)) {
      return false;
    }
  }
  return true;
}

std::string help_text() {
  return R"(usage: vmtrace [-CeFHlqSvVwZ] [-b BUFSIZE] [-c CMD] [-D NAME[=VALUE]] [-I DIR] [-o FILE]
               [-p PID] [-s FILE] [-U NAME] [-x OPTION[=VALUE]] [-P PROVIDER] [-m MODULE]
               [-f FUNCTION] [-n NAME] [-i ID] [[PREDICATE] ACTION] [ARGS...]

Runs D scripts on a vmrun that is running, without privileges and without the kernel.

what runs:
  -s FILE     the script in FILE; ARGS are $1 and on, $$1 as texts. - is standard input
  -n CLAUSE   a clause: 'BEGIN { printf("hello\n"); exit(0); }'; may be repeated
  -P PROV     the probes of a provider, with the clause's predicate and action if there are any
  -m MODULE   the probes of a module
  -f FUNC     the probes of a function
  -i ID       a probe by its number
on what:
  -p PID      a vmrun by its process number; with several -p one report shows all
  -c CMD      a command that runs a vmrun, under trace from its first instruction
  --via CMD   a vmrun on another host: CMD runs vmtrace --relay PID there, and hands on its standard
              input and output: --via 'ssh host vmtrace --relay 4711'
  --node NODE the vmrun that is this node of an Erlang cluster; its cookie is needed
  --cookie C  that cookie, instead of the one in ~/.erlang.cookie
              without a target there are BEGIN, END, ERROR, tick-N, profile-N and wall-N
how:
  -q          prints only what the script prints
  -o FILE     adds the output to FILE
  -w          allows what changes something outside: system(), freopen()
  -Z          allows descriptions that match no probe
  -b SIZE     sets the size of each thread's buffer (4m)
  -x OPT[=V]  sets an option: aggsortkey, bufsize=1m, stackfmt=folded, errtags, ...
  -F          indents the output by entry and return
  -C          sends the texts of -s, -n, -P, -m and -f through cpp first
  -D NAME[=V] defines a macro for -C
  -U NAME     undefines a macro for -C
  -I DIR      looks for included files of -C in DIR
  -H          says on standard error which files -C includes
instead of running:
  -l          lists the probes that match
  -e          only compiles
  -S          shows the compiled program
  -v          says which probes match, and what they hand over
  -V          prints the version
  -h, --help  prints this text

The first line of a script can be: #!/usr/bin/env -S vmtrace -qs
Exit status: 0 at the end; N after exit(N); 1 after an error; 2 after wrong usage.
)";
}

std::string usage_text() {
  const std::string text = help_text();
  return text.substr(0, text.find("\n\n") + 1) + "vmtrace --help lists the options";
}

}  // namespace vmrun::d
