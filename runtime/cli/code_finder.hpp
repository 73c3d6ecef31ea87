// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/compile/compiler.hpp"
#include "vm/code/code_server.hpp"

/// Where the code of a module comes from: the directories of the code path, in their order, as
/// NAME.beam, NAME.act or NAME.erl. One element of the path stands for the embedded library. At
/// first the path is: the script's own directory, -pa, the embedded library, the applications of an
/// installed Erlang/OTP, -pz. The modules on which the machine itself relies (kMachineModules)
/// always come from the embedded library, wherever it stands on the path. Some modules of the
/// library (kSubstitutes) are used only if no other directory has them. Any thread may find modules
/// and change the path.
namespace vmrun::cli {

/// The embedded library as an element of the code path, and the prefix of its modules:
/// "embedded:lists".
inline constexpr std::string_view kEmbeddedLibrary = kEmbeddedPath;

/// Modules that use interfaces of this machine, so that others of their names would not work.
inline constexpr std::string_view kMachineModules[] = {
    "code", "dyntrace",  "erl_ddll", "erl_prim_loader", "error_handler", "file_eval",   "init",
    "os",   "prim_file", "prim_net", "seq_trace",       "user",          "vmrun_trace",
};

bool is_machine_module(std::string_view module);

/// Modules whose OTP originals say more, and which are needed so rarely that reading a file does
/// not matter. The library's versions are used when no OTP is installed or its file cannot be read.
inline constexpr std::string_view kSubstitutes[] = {"erl_erts_errors"};

struct FoundCode {
  enum class Kind { kNotFound, kCode, kBroken } kind = Kind::kNotFound;
  const std::uint8_t* begin = nullptr;  // points into `owned` or the embedded library
  const std::uint8_t* end = nullptr;
  std::vector<std::uint8_t> owned;
  std::string path;      // the file, for messages and module_info
  std::string listing;   // of the stage that the compile options ask for
  std::string messages;  // warnings, or with kBroken the errors
};

class CodeFinder {
 public:
  CodeFinder(std::vector<std::string> path, compile::CompileOptions compile_options);

  FoundCode find(std::string_view module) const;
  /// Returns the library's version of a module of kSubstitutes whose file cannot be loaded.
  static FoundCode find_substitute(std::string_view module);
  /// Returns the file that find would read, or "embedded:NAME", or "".
  std::string locate(std::string_view module) const;
  /// Loads the file, whatever its name: .beam is taken as code, anything else is compiled.
  /// `script`: main is exported automatically.
  FoundCode load_file(const std::string& file, bool script) const;
  /// Compiles expressions as the function main/0 of a module of this name. flag: the flag that gave
  /// them, for messages.
  FoundCode load_expressions(std::string_view flag, std::string text, std::string module) const;

  std::vector<std::string> path() const;
  void set_path(std::vector<std::string> path);

 private:
  using Path = std::shared_ptr<const std::vector<std::string>>;
  Path current_path() const;
  bool has_otp_compiler() const;
  FoundCode transformed(const std::string& path, compile::CompileResult ours) const;

  mutable std::mutex lock_;  // guards path_
  Path path_;
  compile::CompileOptions compile_options_;
};

/// Reads a whole file into `bytes`. On failure returns false and sets `error` to a sentence
/// ("cannot read 'x': No such file or directory").
[[nodiscard]] bool read_file(const std::string& path, std::vector<std::uint8_t>* bytes, std::string* error);

}  // namespace vmrun::cli
