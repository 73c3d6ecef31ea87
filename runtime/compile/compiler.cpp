// SPDX-License-Identifier: Apache-2.0
#include "runtime/compile/compiler.hpp"

#include <pthread.h>
#include <unistd.h>

#include <cstdlib>

#include "runtime/compile/check/lint.hpp"
#include "runtime/compile/check/tables.hpp"
#include "runtime/compile/core/print_core.hpp"
#include "runtime/compile/core/to_core.hpp"
#include "runtime/compile/emit/codegen.hpp"
#include "runtime/compile/source/compile_session.hpp"
#include "runtime/compile/syntax/lexer.hpp"
#include "runtime/compile/syntax/parsed_module.hpp"
#include "vm/base/allocate.hpp"
#include "vm/heap/heap.hpp"

namespace vmrun::compile {

namespace {

/// Room for the recursion of every phase over a tree of TokenCursor::kMaxNesting levels, sanitizers
/// included.
constexpr std::size_t kStackBytes = std::size_t{256} << 20;

/// Returns the offset behind the -module attribute that begins on this line.
std::size_t end_of_module_attribute(std::string_view text, std::uint32_t line) {
  std::size_t at = 0;
  for (; line > 1; --line) at = text.find('\n', at) + 1;
  return text.find('.', text.find(')', at)) + 1;
}

/// Returns the script's text with the declarations that it leaves out; the line numbers do not
/// change.
std::string complete_text(const ModuleTables& tables, const std::string& path, std::string_view text) {
  std::string exports, out, name;
  for (const FunctionName& f : tables.implied_exports)
    exports += " -export([" + quote_atom(f.name) + "/" + std::to_string(f.arity) + "]).";
  for (const char c : path) name += c == '"' || c == '\\' ? std::string{'\\', c} : std::string{c};
  if (!tables.module_loc) out = "-module(" + quote_atom(tables.name) + ")." + exports + "\n";
  out += "-file(\"" + name + "\", 0).\n";
  const std::size_t behind = tables.module_loc ? end_of_module_attribute(text, tables.module_loc->line) : 0;
  if (text.starts_with("#!")) out += "%";  // not a line of Erlang
  out += text.substr(0, behind);
  if (tables.module_loc) out += exports;
  return out.append(text.substr(behind));
}

void run(CompileResult& result, const std::string& path, std::string text, const CompileOptions& options) {
  Session session;
  if (options.warnings) session.check_remote_call = options.check_remote_call;
  session.library_has = options.library_has;
  decode_source(text);
  const std::size_t invalid = find_invalid_utf8(text);
  const std::uint32_t file = session.sources.add(path, std::move(text));
  auto finish = [&] {
    if (!options.warnings) session.diagnostics.drop_warnings();
    session.diagnostics.sort();
    result.messages = session.diagnostics.render(session.sources, token_length, options.colours);
    result.errors = session.diagnostics.error_count();
    result.warnings = session.diagnostics.warning_count();
  };
  if (invalid != std::string_view::npos) {
    Loc loc{file, 1, 1};
    const std::string_view all = session.sources.text(file);
    for (std::size_t at = 0; at < invalid;) {
      const bool newline = next_code_point(all, at) == '\n';
      loc.line += newline;
      loc.column = newline ? 1 : loc.column + 1;
    }
    session.diagnostics.error(loc, format_message("source is not valid UTF-8: byte 0x%02X at offset %zu",
                                                  static_cast<unsigned char>(all[invalid]), invalid));
    // The line cannot be shown as text.
    result.messages = format_message("%s:%u:%u: error: %s\n", path.c_str(), loc.line, loc.column,
                                     session.diagnostics.all()[0].message.c_str());
    result.errors = 1;
    return;
  }
  PreprocessorOptions pp;
  pp.include_path = options.include_path;
  pp.library_path = options.library_path;
  pp.otp_root = options.otp_root;
  pp.macros = options.macros;
  pp.default_module = options.default_module;
  pp.expressions = options.expressions;
  if (pp.default_module.empty()) {
    const std::size_t slash = path.rfind('/');
    std::string stem = slash == std::string::npos ? path : path.substr(slash + 1);
    pp.default_module = stem.substr(0, stem.rfind('.'));
  }
  if (options.only_preprocess) {
    result.preprocessed = preprocess_to_text(session, pp, file);
    finish();
    result.ok = result.errors == 0;
    return;
  }
  ParsedModule module = parse_module(session, pp, file);
  ModuleTables tables = collect_tables(session, module, options.script || options.expressions);
  lint_module(session, module, tables);
  if (tables.has_option("warnings_as_errors")) session.diagnostics.promote_warnings();
  result.module = module.name;
  if (!tables.transforms.empty()) {
    result.transforms.assign(tables.transforms.begin(), tables.transforms.end());
    result.complete_text = complete_text(tables, path, session.sources.text(file));
  }
  if (session.diagnostics.has_errors() || options.only_check) {
    finish();
    result.ok = result.errors == 0;
    return;
  }
  vmrun::Heap literals;
  core::Module core = to_core(session, tables, literals, {path});
  if (session.diagnostics.has_errors()) {
    finish();
    return;
  }
  if (options.want_core) result.core = core::print_core(core);
  Generated generated =
      generate(session.arena, core, options.release, options.want_ssa, options.want_assembly);
  finish();
  for (const std::string& e : generated.errors) {
    result.messages += path + ": error: " + e + "\n";
    ++result.errors;
  }
  result.beam.assign(generated.beam.begin(), generated.beam.end());
  result.ssa = std::move(generated.ssa);
  result.assembly = std::move(generated.assembly);
  result.ok = result.errors == 0;
}

struct Job {
  CompileResult& result;
  std::string path;
  std::string text;
  const CompileOptions& options;
};

}  // namespace

CompileResult compile_source(std::string path, std::string text, const CompileOptions& options) {
  CompileResult result;
  Job job{result, std::move(path), std::move(text), options};
  auto body = [](void* p) -> void* {
    Job& j = *static_cast<Job*>(p);
    run(j.result, std::move(j.path), std::move(j.text), j.options);
    return nullptr;
  };
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setstacksize(&attributes, kStackBytes);
  pthread_t thread;
  const int failed = pthread_create(&thread, &attributes, body, &job);
  pthread_attr_destroy(&attributes);
  if (failed != 0) out_of_memory("the compiler's stack", kStackBytes);
  pthread_join(thread, nullptr);
  return result;
}

CompileResult compile_file(const std::string& path, const CompileOptions& options) {
  CompileResult result;
  std::string text, problem;
  if (!read_source_file(path, text, problem)) {
    result.messages = path + ": error: cannot read the source: " + problem + "\n";
    result.errors = 1;
    return result;
  }
  return compile_source(options.shown_name.empty() ? path : options.shown_name, std::move(text), options);
}

bool wants_colours(int fd) {
  if (isatty(fd) == 0) return false;
  const char* const kind = std::getenv("TERM");
  const char* const refused = std::getenv("NO_COLOR");
  return kind && *kind != 0 && std::string_view(kind) != "dumb" && (!refused || *refused == 0);
}

}  // namespace vmrun::compile
