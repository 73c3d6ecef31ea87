// SPDX-License-Identifier: Apache-2.0
#include "probes/vmtrace/tracing.hpp"

#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iostream>
#include <iterator>
#include <sstream>

#include <fmt/format.h>

#include "probes/d/compile.hpp"
#include "probes/d/script/action_table.hpp"
#include "probes/d/script/engine_options.hpp"
#include "probes/engine/aggregation.hpp"
#include "probes/vmtrace/advice.hpp"
#include "probes/vmtrace/compile_report.hpp"
#include "probes/vmtrace/consumer.hpp"
#include "probes/vmtrace/node_transport.hpp"
#include "probes/vmtrace/output_file.hpp"
#include "probes/vmtrace/preprocess.hpp"
#include "probes/vmtrace/probe_listing.hpp"
#include "probes/vmtrace/relay.hpp"

namespace vmrun::d {

void fail(const std::string& text, int status) {
  std::fputs(("vmtrace: " + text + "\n").c_str(), stderr);
  throw Failed{status};
}

namespace {

std::string text_of_file(const std::string& name) {
  std::stringstream text;
  if (name == "-" || name == "/dev/stdin") {
    text << std::cin.rdbuf();
    return text.str();
  }
  errno = 0;
  std::ifstream file(name);
  if (!file || !(text << file.rdbuf() || file.eof())) {
    const int error = errno;
    if (error != 0) fail(fmt::format("failed to open {}: {}", name, std::strerror(error)));
  }
  return text.str();
}

}  // namespace

/// Returns how errors name a text: a script by its file, another one by its option, and by a number
/// when the option is repeated.
std::string name_of_text(const std::vector<Source>& before, const CommandLine::Text& text) {
  if (text.option == 's') return text.value;
  const std::string option = std::string("-") + text.option;
  const auto same = std::ranges::count_if(before, [&](const Source& source) {
    return source.file == option || source.file.starts_with(option + "#");
  });
  return same == 0 ? option : fmt::format("{}#{}", option, same + 1);
}

std::vector<Source> sources_of(const CommandLine& line) {
  std::vector<Source> sources;
  for (const CommandLine::Text& given : line.texts) {
    const auto& [option, value] = given;
    Source source;
    switch (option) {
      case 's': source.kind = Source::Kind::kFile; break;
      case 'P': source.kind = Source::Kind::kProvider; break;
      case 'm': source.kind = Source::Kind::kModule; break;
      case 'f': source.kind = Source::Kind::kFunction; break;
      case 'i': source.kind = Source::Kind::kId; break;
      default: source.kind = Source::Kind::kName;
    }
    source.file = name_of_text(sources, given);
    source.given = value;
    source.text = option == 's' ? text_of_file(value) : value;
    if (std::string text, said; option != 'i' && line.preprocess) {
      const bool is_good = preprocess(source.file, source.text, line.preprocessor, text, said);
      std::fputs(said.c_str(), stderr);
      if (!is_good) fail("failed to preprocess " + source.file);
      source.text = std::move(text);
    }
    sources.push_back(std::move(source));
  }
  return sources;
}

namespace {

CompileOptions compile_options(const CommandLine& line, Target& target, bool several) {
  CompileOptions options;
  options.probes = &target.probes();
  if (target.has_functions())
    options.count_functions = [&target](const FunctionPattern& pattern) {
      // A machine that has not begun may load any function later.
      return target.is_command() ? 1 : target.functions(pattern, kMostListed).size();
    };
  if (target.has_functions() && !target.is_command())
    options.list_functions = [&target](const FunctionPattern& pattern) {
      std::vector<NamedFunction> names;
      for (ListedFunction& f : target.functions(pattern, kMostListed))
        names.push_back({std::move(f.module), std::move(f.function), f.arity});
      return names;
    };
  options.zero_matches = line.zero_matches || line.list || several;
  options.options = line.options;
  for (const auto& [name, value] : line.options) {
    if (name == "empty") options.empty = true;
    if (name == "defaultargs") options.default_arguments = true;
    if (name == "zdefs") options.zero_matches = true;
  }
  std::string script = "vmtrace";
  for (const auto& text : line.texts)
    if (text.option == 's') script = text.value;
  options.arguments = {script};
  options.arguments.insert(options.arguments.end(), line.arguments.begin(), line.arguments.end());
  const bool has_target = names_target(line);
  options.macros = {{"pid", getpid()},   {"ppid", getppid()}, {"uid", getuid()},
                    {"euid", geteuid()}, {"gid", getgid()},   {"egid", getegid()},
                    {"sid", getsid(0)},  {"pgid", getpgrp()}, {"target", has_target ? target.pid() : 0}};
  return options;
}

bool has_option(const std::vector<std::pair<std::string, std::string>>& options, std::string_view wanted) {
  for (const auto& [name, value] : options)
    if (name == wanted && value != "0" && value != "unset" && value != "off" && value != "no" &&
        value != "false")
      return true;
  return false;
}

/// Reports what is wrong with the texts.
[[noreturn]] void refuse(const std::vector<CompileError>& errors, bool with_tags) {
  const bool in_colour = isatty(STDERR_FILENO) != 0 && std::getenv("NO_COLOR") == nullptr;
  std::fputs(compile_report(errors, with_tags, in_colour).c_str(), stderr);
  throw Failed{kFailure};
}

std::unique_ptr<Script> compiled(const std::vector<Source>& sources, const CompileOptions& options) {
  std::vector<CompileError> errors;
  auto script = compile(sources, options, errors);
  if (script == nullptr) refuse(errors, has_option(options.options, "errtags"));
  return script;
}

/// Calls missed(clause, which description) for each description that matches no probe of any
/// target.
template <class Missed>
void each_missed(const std::vector<Traced>& traced, Missed&& missed) {
  const std::vector<ClauseInfo>& clauses = traced.front().script->clauses;
  for (std::size_t clause = 0; clause < clauses.size(); ++clause)
    for (std::size_t n = 0; n < clauses[clause].matched.size(); ++n) {
      const auto matches = [&](const Traced& t) { return t.script->clauses[clause].matched[n].probes != 0; };
      if (std::ranges::none_of(traced, matches)) missed(clauses[clause], clauses[clause].matched[n]);
    }
}

std::size_t matched_of(const Script& script, const std::string& file) {
  std::size_t n = 0;
  for (std::size_t i = 0; i < script.clauses.size(); ++i)
    if (script.clauses[i].file < script.files.size() && script.files[script.clauses[i].file] == file)
      n += script.program.clauses[i].probes.size();
  return n;
}

/// Prints `vmtrace: description 'BEGIN' matched 1 probe`, for each text of the command line.
void tell_matches(const std::vector<Source>& sources, const std::vector<Traced>& traced) {
  for (const Source& source : sources) {
    std::size_t n = 0;
    for (const Traced& t : traced)
      n += sources.size() == 1 ? t.script->matched : matched_of(*t.script, source.file);
    const char* what = source.kind == Source::Kind::kFile ? "script" : "description";
    std::fputs(fmt::format("vmtrace: {} '{}' matched {} probe{}\n", what, source.word(), n, n == 1 ? "" : "s")
                   .c_str(),
               stderr);
  }
}

ConsumerOptions reader_options(const Script& script) {
  ConsumerOptions options;
  for (const auto& [name, value] : script.options) {
    std::string why;
    Options of_engine;
    const bool is_engines = set_option(of_engine, name, value, why);
    if (why.empty() && !options.set(name, value, why) && !is_engines) why = "Invalid option name";
    if (!why.empty()) fail(fmt::format("failed to set option '{}' to '{}': {}", name, value, why));
  }
  return options;
}

bool is_destructive(const Script& script) {
  return std::ranges::any_of(script.actions, [](const ActionInfo& action) {
    const ActionRow* row = find_action(action.kind);
    return row && row->changes_world;
  });
}

/// Whether a size is too small to hold anything: a line of output, an element.
bool is_too_small(const Script& script) {
  const Program& program = script.program;
  const bool has_arrays = std::ranges::any_of(program.variables, &Variable::associative);
  return program.options.bufsize < 64 || (has_arrays && program.options.dynvarsize < 16) ||
         std::ranges::any_of(program.aggregations, [&](const Aggregation& a) {
           return program.options.aggsize <= 8 * value_words(a);
         });
}

std::int64_t pid_of(const std::string& text) {
  std::int64_t pid = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), pid);
  if (error != std::errc{} || end != text.data() + text.size() || pid <= 0)
    fail("invalid pid: " + text, kUsage);
  return pid;
}

std::vector<Traced> targets_of(const CommandLine& line) {
  std::vector<Traced> traced;
  std::string why;
  const auto add = [&](std::unique_ptr<Target> target) {
    if (target == nullptr) fail(why);
    traced.push_back({std::move(target), nullptr, nullptr});
  };
  for (const std::string& text : line.pids) add(attach_target(pid_of(text), why));
  for (const std::string& command : line.commands) add(start_target(command, why));
  for (const std::string& command : line.ways)
    add(remote_target(command, fmt::format("a machine by \"{}\"", command), why));
  for (const std::string& node : line.nodes)
    add(remote_target(node_transport(node, line.cookie), "the machine of " + node, why));
  if (traced.empty()) add(make_self_target());
  return traced;
}

void compile_for_all(const CommandLine& line, const std::vector<Source>& sources,
                     std::vector<Traced>& traced) {
  for (Traced& t : traced) {
    t.script = compiled(sources, compile_options(line, *t.target, traced.size() > 1));
    t.texts = std::make_unique<Texts>(t.target->names());
  }
  if (compile_options(line, *traced.front().target, false).zero_matches) return;
  std::vector<CompileError> errors;
  each_missed(traced, [&](const ClauseInfo& clause, const ClauseInfo::Matched& missed) {
    errors.push_back(no_match(*traced.front().script, clause, missed, sources));
  });
  if (!errors.empty()) refuse(errors, has_option(line.options, "errtags"));
}

void open_all(std::vector<Traced>& traced, const ConsumerOptions& options) {
  for (Traced& t : traced) {
    t.texts->stack_format = options.tables.folded ? StackFormat::kFolded : StackFormat::kLines;
    t.script->program.options.pid = static_cast<std::uint32_t>(t.target->pid());
    std::string why;
    if (!t.target->open(t.script->program, why)) fail("failed to enable: " + why);
  }
}

/// With several machines, a view shows the machine of each process: by its node's name, or by its
/// process number where the name is not enough.
void name_machines(std::vector<Traced>& traced) {
  if (traced.size() < 2) return;
  std::vector<std::string> nodes;
  for (Traced& t : traced) nodes.push_back(t.target->node());
  for (std::size_t i = 0; i < traced.size(); ++i) {
    const bool is_enough = !nodes[i].empty() && std::ranges::count(nodes, nodes[i]) == 1;
    traced[i].texts->machine = (is_enough ? nodes[i] : std::to_string(traced[i].target->pid())) + " ";
  }
}

void begin_all(std::vector<Traced>& traced) {
  for (Traced& t : traced)
    if (std::string why; !t.target->begin(why)) fail(why);
}

struct Job {
  const CommandLine& line;
  const std::vector<Source>& sources;
  ConsumerOptions options;
  Presentation* shows;  // may be null
};

/// Opens the targets once more and begins tracing. Returns nothing when they have ended.
std::vector<Traced> traced_again(const Job& job, const std::vector<Traced>& traced) {
  std::vector<Traced> next;
  for (const Traced& t : traced) {
    std::string why;
    auto target = t.target->again(why);
    if (target == nullptr) return {};
    next.push_back({std::move(target), nullptr, nullptr});
  }
  compile_for_all(job.line, job.sources, next);
  open_all(next, job.options);
  if (job.shows != nullptr) name_machines(next);
  begin_all(next);
  return next;
}

/// Reads until the end, or until the results are asked for; `next` goes on in that case.
/// is_written: whether all output was written.
int read_to(std::FILE* file, const Job& job, std::vector<Traced>& traced, bool begin, bool& is_written,
            std::vector<Traced>& next) {
  Aggregates aggregates(*traced.front().script);
  Consumer* consumer = nullptr;
  Output output(
      *traced.front().script, job.options, file, aggregates, [&consumer] { consumer->refresh(); },
      [&consumer](int written) { return consumer->wait_to_write(written); }, job.shows);
  Consumer loop(traced, output, aggregates, [&] { next = traced_again(job, traced); });
  consumer = &loop;
  if (begin) begin_all(traced);
  const int status = loop.run();
  is_written = !output.failed();
  return status;
}

/// Reads as above, and writes to FILE of -o: the first time under this name, then to FILE.2 and so
/// on. In the first round, the targets have not begun.
int read_all(const Job& job, std::vector<Traced>& traced, unsigned round, std::vector<Traced>& next) {
  const std::string& given = job.line.output;
  OutputFile out(given.empty() || round == 1 ? given : fmt::format("{}.{}", given, round), job.line.replaces);
  bool is_written = false;
  int status = read_to(out.file(), job, traced, round == 1, is_written, next);
  if (is_written && !out.finish()) {
    is_written = false;
    status = kFailure;
    std::fputs(fmt::format("vmtrace: failed to write: {}\n", std::strerror(errno)).c_str(), stderr);
  }
  if (job.shows == nullptr || job.shows->summary().empty()) return status;
  const std::string what = is_written ? job.shows->summary() : "it is not written";
  std::fputs(fmt::format("vmtrace: {}: {}\n", out.name(), what).c_str(), stderr);
  return status;
}

/// -l: lists all probes, or those of the clauses. The status says whether each description matches.
int list(const CommandLine& line, const std::vector<Source>& sources, std::vector<Traced>& traced) {
  std::string text = list_header();
  if (!sources.empty()) compile_for_all(line, sources, traced);
  for (const Traced& t : traced)
    if (sources.empty()) list_all(text, *t.target, line.verbose);
    else list_matches(text, *t.target, *t.script, line.verbose);
  std::fputs(text.c_str(), stdout);
  if (sources.empty()) return 0;
  const std::string unknown = names_target(line) ? "" : ": no -p PID or -c CMD names a machine";
  int status = 0;
  each_missed(traced, [&](const ClauseInfo&, const ClauseInfo::Matched& missed) {
    status = kFailure;
    const std::string reason = no_match_reason(missed);
    std::fputs(fmt::format("vmtrace: failed to match {}: No probe matches description{}\n",
                           missed.description, reason.empty() ? unknown : reason)
                   .c_str(),
               stderr);
  });
  return status;
}

}  // namespace

int relay(const CommandLine& line) { return relay(pid_of(line.relay)); }

int trace(const CommandLine& line, const std::vector<Source>& sources, Presentation* shows) {
  std::vector<Traced> traced = targets_of(line);
  if (line.list) return list(line, sources, traced);
  compile_for_all(line, sources, traced);
  const Script& script = *traced.front().script;
  const Job job{line, sources, reader_options(script), shows};
  if (line.disassemble) std::fputs(disassemble(script.program).c_str(), stdout);
  if (line.compile_only) return 0;
  if (is_destructive(script) && !job.options.destructive)
    fail("failed to enable '" + sources.front().word() + "': destructive actions not allowed without -w");
  if (script.clauses.empty()) fail("no probes matched");
  if (is_too_small(script)) fail("could not enable tracing: Enabling exceeds size of buffer");
  open_all(traced, job.options);
  if (shows != nullptr) name_machines(traced);
  if (!job.options.quiet) tell_matches(sources, traced);
  const Traced& first = traced.front();
  if (const std::string advice = advice_on_returns(first.script->program, first.target->probes());
      !advice.empty())
    std::fputs(("vmtrace: " + advice + "\n").c_str(), stderr);
  if (line.verbose)
    for (const Traced& t : traced)
      std::fputs(describe_matches(*t.script, t.target->probes()).c_str(), stderr);
  Consumer::handle_signals(shows != nullptr && shows->can_be_asked());
  for (unsigned round = 1;; ++round) {
    std::vector<Traced> next;
    const int status = read_all(job, traced, round, next);
    if (next.empty()) return status;
    traced = std::move(next);
  }
}

}  // namespace vmrun::d
