// SPDX-License-Identifier: Apache-2.0
#include "runtime/cli/code_finder.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>

#include <sys/stat.h>

#include "runtime/cli/known_calls.hpp"
#include "runtime/cli/otp_compiler.hpp"
#include "runtime/code_path/installed_otp.hpp"
#include "runtime/lib/embedded.hpp"

namespace vmrun::cli {
namespace {

bool has_suffix(std::string_view text, std::string_view suffix) {
  return text.size() > suffix.size() && text.substr(text.size() - suffix.size()) == suffix;
}

bool exists(const std::string& path) {
  struct stat st;
  return ::stat(path.c_str(), &st) == 0 && !S_ISDIR(st.st_mode);
}

FoundCode broken(std::string path, std::string why) {
  FoundCode code;
  code.kind = FoundCode::Kind::kBroken;
  code.path = std::move(path);
  code.messages = std::move(why);
  return code;
}

FoundCode bytes_found(std::string path, std::vector<std::uint8_t> bytes, std::string messages) {
  FoundCode code;
  code.kind = FoundCode::Kind::kCode;
  code.owned = std::move(bytes);
  code.begin = code.owned.data();
  code.end = code.begin + code.owned.size();
  code.path = std::move(path);
  code.messages = std::move(messages);
  return code;
}

bool is_substitute(std::string_view module) {
  return std::ranges::find(kSubstitutes, module) != std::end(kSubstitutes);
}

std::string embedded_name(std::string_view module) {
  return std::string(kEmbeddedLibrary) + std::string(module);
}

/// "embedded:NAME".
FoundCode load_embedded(const std::string& path) {
  FoundCode code;
  const EmbeddedModule* m = find_embedded_module(std::string_view(path).substr(kEmbeddedLibrary.size()));
  if (!m) return code;
  code.kind = FoundCode::Kind::kCode;
  code.begin = m->begin;
  code.end = m->end;
  code.path = path;
  return code;
}

std::string cannot_read(const std::string& path, int code) {
  return "cannot read '" + path + "': " + std::strerror(code);
}

/// Reads the file. Returns 0 or the number of an error.
int read_bytes(const std::string& path, std::vector<std::uint8_t>* bytes) {
  std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::fopen(path.c_str(), "rb"), std::fclose);
  if (!file) return errno;
  struct stat st;
  if (::fstat(::fileno(file.get()), &st) == 0 && S_ISDIR(st.st_mode)) return EISDIR;
  bytes->clear();
  std::uint8_t chunk[65536];
  while (std::size_t n = std::fread(chunk, 1, sizeof chunk, file.get()))
    bytes->insert(bytes->end(), chunk, chunk + n);
  return std::ferror(file.get()) ? errno : 0;
}

/// Shortages are reported by the program's own calls, as in OTP, so they are not printed on
/// standard error as well.
bool is_shortage(int code) { return code == EMFILE || code == ENFILE; }

}  // namespace

bool read_file(const std::string& path, std::vector<std::uint8_t>* bytes, std::string* error) {
  const int code = read_bytes(path, bytes);
  if (code) *error = cannot_read(path, code);
  return code == 0;
}

CodeFinder::CodeFinder(std::vector<std::string> path, compile::CompileOptions compile_options)
    : path_(std::make_shared<const std::vector<std::string>>(std::move(path))),
      compile_options_(std::move(compile_options)) {
  compile_options_.check_remote_call = [this](auto module, auto function, auto arity) {
    return problem_of_call(*this, module, function, arity);
  };
  compile_options_.library_has = library_has;
}

FoundCode CodeFinder::load_file(const std::string& path, bool script) const {
  if (path.starts_with(kEmbeddedLibrary))
    if (FoundCode code = load_embedded(path); code.kind == FoundCode::Kind::kCode) return code;
  std::vector<std::uint8_t> bytes;
  if (const int code = read_bytes(path, &bytes))
    return broken(path, is_shortage(code) && !script ? "" : "vmrun: " + cannot_read(path, code) + "\n");
  if (has_suffix(path, ".beam")) return bytes_found(path, std::move(bytes), "");
  compile::CompileOptions options = compile_options_;
  options.script = script;
  auto result = compile::compile_source(path, std::string(bytes.begin(), bytes.end()), options);
  if (!result.transforms.empty() && has_otp_compiler()) return transformed(path, std::move(result));
  if (!result.ok) return broken(path, std::move(result.messages));
  FoundCode code = bytes_found(path, std::move(result.beam), std::move(result.messages));
  code.listing = result.core + result.ssa + result.assembly;
  return code;
}

FoundCode CodeFinder::load_expressions(std::string_view flag, std::string text, std::string module) const {
  compile::CompileOptions options = compile_options_;
  options.expressions = true;
  options.warnings = false;
  options.default_module = std::move(module);
  const std::string name(flag);
  auto result = compile::compile_source(name, std::move(text), options);
  if (!result.ok) return broken(name, std::move(result.messages));
  return bytes_found(name, std::move(result.beam), std::move(result.messages));
}

bool CodeFinder::has_otp_compiler() const {
  const compile::CompileOptions& o = compile_options_;
  const bool for_people = o.want_core || o.want_ssa || o.want_assembly || o.only_preprocess || o.only_check;
  return !for_people && !o.otp_root.empty() && o.otp_root != "none" &&
         otp_application_directory(o.otp_root, "compiler");
}

/// Compiles by OTP's compiler. A transform that is found on the path as source text is compiled
/// first, like any module.
FoundCode CodeFinder::transformed(const std::string& path, compile::CompileResult ours) const {
  OtpCompilation job{.path = path,
                     .module = ours.module,
                     .text = std::move(ours.complete_text),
                     .otp_root = compile_options_.otp_root,
                     .code_path = {},
                     .include_path = compile_options_.include_path,
                     .macros = compile_options_.macros,
                     .modules = {}};
  for (const std::string& directory : *current_path())
    if (directory != kEmbeddedLibrary && !directory.starts_with(job.otp_root))
      job.code_path.push_back(directory);
  for (const std::string& name : ours.transforms) {
    const std::string place = locate(name);
    if (!has_suffix(place, ".act") && !has_suffix(place, ".erl")) continue;
    FoundCode transform = load_file(place, /*script=*/false);
    if (transform.kind != FoundCode::Kind::kCode) return transform;
    job.modules.emplace_back(name, std::vector<std::uint8_t>(transform.begin, transform.end));
  }
  OtpCompiled compiled = compile_by_otp(job);
  if (compiled.beam.empty()) return broken(path, std::move(compiled.messages));
  return bytes_found(path, std::move(compiled.beam), std::move(compiled.messages));
}

bool is_machine_module(std::string_view module) {
  return std::find(std::begin(kMachineModules), std::end(kMachineModules), module) !=
         std::end(kMachineModules);
}

std::string CodeFinder::locate(std::string_view module) const {
  if (is_machine_module(module)) return embedded_name(module);
  std::string substitute;
  for (const std::string& directory : *current_path()) {
    if (directory == kEmbeddedLibrary) {
      if (!find_embedded_module(module)) continue;
      if (!is_substitute(module)) return embedded_name(module);
      substitute = embedded_name(module);
      continue;
    }
    for (const char* suffix : {".beam", ".act", ".erl"}) {
      std::string file = directory + "/" + std::string(module) + suffix;
      if (exists(file)) return file;
    }
  }
  return substitute;
}

FoundCode CodeFinder::find(std::string_view module) const {
  std::string found = locate(module);
  if (found.empty()) return {};
  if (found.starts_with(kEmbeddedLibrary)) return load_embedded(found);
  FoundCode code = load_file(found, /*script=*/false);
  if (code.kind != FoundCode::Kind::kBroken) return code;
  FoundCode other = find_substitute(module);
  return other.kind == FoundCode::Kind::kCode ? std::move(other) : std::move(code);
}

FoundCode CodeFinder::find_substitute(std::string_view module) {
  return is_substitute(module) ? load_embedded(embedded_name(module)) : FoundCode{};
}

CodeFinder::Path CodeFinder::current_path() const {
  std::lock_guard guard(lock_);
  return path_;
}

std::vector<std::string> CodeFinder::path() const { return *current_path(); }

void CodeFinder::set_path(std::vector<std::string> path) {
  auto fresh = std::make_shared<const std::vector<std::string>>(std::move(path));
  std::lock_guard guard(lock_);
  path_ = std::move(fresh);
}

}  // namespace vmrun::cli
