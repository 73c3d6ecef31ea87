// SPDX-License-Identifier: Apache-2.0
// One compilation from texts to a script: macros, pragmas, and the passes in their order.
#include "probes/d/compile.hpp"

#include <algorithm>
#include <exception>

#include "probes/d/emit/emit.hpp"
#include "probes/d/script/engine_options.hpp"
#include "probes/d/statements/check.hpp"
#include "probes/d/syntax/d_parser.hpp"
#include "vm/base/near_name.hpp"
#include "vm/base/utf8.hpp"

namespace vmrun::d {
namespace lang {
namespace {

// A script is compiled again when variables are assigned further down. There may be several rounds,
// because their types may depend on other variables that are.
constexpr unsigned kMostCompilations = 16;

class Compilation {
 public:
  Compilation(const CompileOptions& options, LaterVariables& later)
      : options_(options),
        referenced_(options.arguments.size()),
        checker_(tree_, types_, script_, options, later, failures_) {
    later.begin();
    macros_.find = [this](std::string_view name, std::string& value) { return macro(name, value); };
    macros_.pragma = [this](const Pragma& pragma) { take(pragma); };
    macros_.file_number = [this](const std::string& file) { return file_number(file); };
    macros_.like = [this](std::string_view name) { return macro_like(name); };
  }

  /// Returns null when something is wrong; failures() has it.
  std::unique_ptr<Script> run(const std::vector<Source>& sources) {
    for (const auto& [name, value] : options_.options) failures_.guard([&] { option({}, name, value); });
    for (std::size_t i = 0; i < sources.size(); i++) read(sources[i], static_cast<std::uint32_t>(i));
    if (!failures_.has_any()) check_arguments();
    if (!failures_.has_any()) failures_.guard([&] { emit(script_, types_, checker_); });
    if (failures_.has_any()) return nullptr;
    script_.types = std::move(types_.all());
    return std::make_unique<Script>(std::move(script_));
  }

  Failures& failures() { return failures_; }

  std::string file(std::uint32_t number) const {
    return number < script_.files.size() ? script_.files[number] : "";
  }

 private:
  void read(const Source& source, std::uint32_t number) {
    const std::uint32_t file = file_number(source.file);
    const std::size_t before = checker_.clauses().size();
    checker_.begin_source(source.kind);
    Lexer lexer(source.text, file, macros_, number);
    Parser(lexer, tree_, types_, checker_, failures_).parse(source.kind);
    if (checker_.clauses().size() == before && !options_.empty && !failures_.has_any())
      failures_.add({"D_EMPTY", {file, 0, number}, "empty D program translation unit"});
  }

  void check_arguments() {
    for (std::size_t i = 1; i < referenced_.size() && !arguments_may_be_unused_; i++)
      if (!referenced_[i])
        failures_.add({"D_MACRO_UNUSED",
                       {},
                       "extraneous argument '" + options_.arguments[i] + "' ($" + std::to_string(i) +
                           " is not referenced)"});
  }

  /// Returns the macro variable that a wrong name probably means.
  std::string macro_like(std::string_view wrong) const {
    NearName near(wrong);
    for (const auto& [known, number] : options_.macros) near.offer(known);
    return std::string(near.found());
  }

  std::uint32_t file_number(const std::string& name) {
    const auto at = std::ranges::find(script_.files, name);
    if (at == script_.files.end()) {
      script_.files.push_back(name);
      return static_cast<std::uint32_t>(script_.files.size() - 1);
    }
    return static_cast<std::uint32_t>(at - script_.files.begin());
  }

  /// Looks a macro variable up. name: "1", "target", or "$1" for the argument as a text.
  bool macro(std::string_view name, std::string& value) {
    const bool as_text = name.starts_with('$');
    if (as_text) name.remove_prefix(1);
    if (!name.empty() && name[0] >= '0' && name[0] <= '9') {
      std::size_t number = 0;
      for (const char c : name)
        number = std::min<std::size_t>(number * 10 + static_cast<std::size_t>(c - '0'), 1 << 20);
      if (number >= options_.arguments.size()) {
        value = as_text ? "" : "0";
        return options_.default_arguments || default_arguments_;
      }
      referenced_[number] = true;
      value = options_.arguments[number];
      return true;
    }
    for (const auto& [known, number] : options_.macros) {
      if (known != name) continue;
      value = std::to_string(number);
      return true;
    }
    return false;
  }

  void option(Place place, const std::string& name, const std::string& value) {
    std::string why;
    const auto refuse = [&](const std::string& reason) {
      fail(place, "D_PRAGMA_OPTSET",
           "failed to set option '" + name + "'" + (value.empty() ? "" : " to '" + value + "'") + ": " +
               reason);
    };
    if (!set_option(script_.program.options, name, value, why)) {
      if (!why.empty()) refuse(why);
      if (!known_option(name)) refuse("invalid option name" + did_you_mean(option_like(name)));
      if (bool set; is_flag_option(name) && !value.empty() && !read_flag(value, set))
        refuse("invalid value for specified option");
    }
    if (name == "strsize") types_.set_string_bytes(script_.program.options.strsize);
    if (name == "defaultargs") default_arguments_ = true;
    if (name == "argref") arguments_may_be_unused_ = true;
    script_.options.emplace_back(name, value);
  }

  /// Every machine that is traced has the provider erlang, with its own number behind.
  bool has_provider(const std::string& name) const {
    if (name == "dtrace" || name == "profile") return true;
    return options_.probes != nullptr && std::ranges::any_of(*options_.probes, [&](const ProbeInfo& probe) {
             return probe.provider.starts_with(name) &&
                    probe.provider.find_first_not_of("0123456789", name.size()) == std::string::npos;
           });
  }

  [[noreturn]] static void pragma_error(const Pragma& pragma, std::size_t first) {
    std::string text = "#pragma error:";
    for (std::size_t i = first; i < pragma.words.size(); i++) text += ' ' + pragma.words[i];
    fail(pragma.place, "D_PRAGERR", text);
  }

  /// Reads Name/Data/Class of a name. Nothing else is done with them.
  static void attributes(const Pragma& pragma) {
    static constexpr std::string_view kStabilities[] = {"Internal", "Private",  "Obsolete", "External",
                                                        "Unstable", "Evolving", "Stable",   "Standard"};
    static constexpr std::string_view kClasses[] = {"Unknown", "CPU", "Platform", "Group", "ISA", "Common"};
    if (pragma.words.size() < 4)
      fail(pragma.place, "D_PRAGMA_MALFORM", "malformed #pragma D attributes: attributes and a name");
    const std::string& text = pragma.words[2];
    const std::size_t one = text.find('/'), two = text.find('/', one == std::string::npos ? one : one + 1);
    const auto is = [](const auto& list, std::string_view word) {
      return std::ranges::find(list, word) != std::end(list);
    };
    if (two == std::string::npos || !is(kStabilities, std::string_view(text).substr(0, one)) ||
        !is(kStabilities, std::string_view(text).substr(one + 1, two - one - 1)) ||
        !is(kClasses, std::string_view(text).substr(two + 1)))
      fail(pragma.place, "D_PRAGMA_INVAL", "invalid attributes in #pragma D attributes: " + text);
  }

  void take(const Pragma& pragma) {
    const auto& words = pragma.words;
    if (words.empty()) return;
    if (words[0] == "error") pragma_error(pragma, 1);
    if (words[0] != "D") return;  // a pragma of another compiler
    if (words.size() < 2) fail(pragma.place, "D_PRAGMA_MALFORM", "malformed #pragma D: nothing follows");
    if (words[1] == "option") {
      if (words.size() != 3)
        fail(pragma.place, "D_PRAGMA_MALFORM",
             "superfluous or missing arguments: #pragma D option name=value");
      const std::size_t equals = words[2].find('=');
      std::string value = equals == std::string::npos ? "" : words[2].substr(equals + 1);
      if (value.size() >= 2 && value.front() == '"' && value.back() == '"')
        value = value.substr(1, value.size() - 2);
      option(pragma.place, words[2].substr(0, equals), value);
    } else if (words[1] == "error") {
      pragma_error(pragma, 2);
    } else if (words[1] == "attributes") {
      attributes(pragma);
    } else if (words[1] == "depends_on") {
      if (words.size() != 4)
        fail(pragma.place, "D_PRAGMA_MALFORM", "malformed #pragma D depends_on: class and name");
      if (words[2] != "provider" && words[2] != "module" && words[2] != "library")
        fail(pragma.place, "D_PRAGMA_INVAL", "invalid class in #pragma D depends_on: " + words[2]);
      if (words[2] != "provider" || !has_provider(words[3]))
        fail(pragma.place, "D_PRAGMA_DEPEND", "program requires " + words[2] + " " + words[3]);
    } else if (words[1] != "binding") {
      NearName near(words[1]);
      for (const std::string_view known : {"option", "attributes", "depends_on", "binding", "error"})
        near.offer(known);
      fail(pragma.place, "D_PRAGMA_INVAL", "invalid #pragma D: " + words[1] + did_you_mean(near.found()));
    }
  }

  const CompileOptions& options_;
  std::vector<bool> referenced_;
  bool default_arguments_ = false, arguments_may_be_unused_ = false;
  Script script_;
  Tree tree_;
  Types types_;
  Macros macros_;
  Failures failures_;
  Checker checker_;
};

std::size_t characters(std::string_view text) {
  std::size_t count = 0;
  for (std::size_t at = 0; at < text.size(); count++) utf8::next(text, at);
  return count;
}

/// Shows a place of a text in an error.
void put_place(CompileError& error, const std::vector<Source>& sources, std::uint32_t source,
               std::uint32_t offset) {
  if (source >= sources.size() || offset > sources[source].text.size()) return;
  const std::string_view text = sources[source].text;
  const std::size_t begin = offset == 0 ? 0 : text.rfind('\n', offset - 1) + 1;
  const std::size_t end = std::min(text.find('\n', offset), text.size());
  const std::string_view rest = text.substr(offset, end - offset);
  const bool is_description = error.tag.starts_with("D_PDESC");
  error.source_line = text.substr(begin, end - begin);
  error.column = static_cast<std::uint32_t>(characters(text.substr(begin, offset - begin)) + 1);
  error.length = static_cast<std::uint32_t>(
      characters(rest.substr(0, is_description ? description_bytes(rest) : token_bytes(rest))));
}

}  // namespace
}  // namespace lang

std::string to_text(const CompileError& error, bool with_tag) {
  std::string out;
  if (!error.file.empty()) out = error.file + ": ";
  if (error.line != 0) out += "line " + std::to_string(error.line) + ": ";
  return out + (with_tag ? '[' + error.tag + "] " : "") + error.text;
}

CompileError no_match(const Script& script, const ClauseInfo& clause, const ClauseInfo::Matched& matched,
                      const std::vector<Source>& sources) {
  CompileError error{"D_PDESC_ZERO", clause.file < script.files.size() ? script.files[clause.file] : "",
                     lang::no_match_text(matched), clause.line};
  lang::put_place(error, sources, matched.at.source, matched.at.offset);
  return error;
}

std::string no_match_reason(const ClauseInfo::Matched& matched) { return lang::no_match_reason(matched); }

std::unique_ptr<Script> compile(const std::vector<Source>& sources, const CompileOptions& options,
                                std::vector<CompileError>& errors) {
  lang::LaterVariables later;
  for (unsigned again = 0;; again++) {
    lang::Compilation compilation(options, later);
    try {
      if (auto script = compilation.run(sources)) return script;
      if (later.has_learned() && again < lang::kMostCompilations) continue;
      for (const lang::Failure& f : compilation.failures().sorted()) {
        CompileError& error =
            errors.emplace_back(CompileError{f.tag, compilation.file(f.place.file), f.text, f.place.line});
        if (f.place.line != 0) lang::put_place(error, sources, f.place.source, f.place.offset);
        else if (f.place.file == 0 && f.tag != std::string_view("D_EMPTY")) error.file.clear();
      }
    } catch (const std::exception& e) {
      errors.push_back({"D_UNKNOWN", "", std::string("the compiler failed: ") + e.what(), 0});
    }
    return nullptr;
  }
}

}  // namespace vmrun::d
