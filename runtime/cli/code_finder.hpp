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
/// installed Erlang/OTP, -pz. A few modules on which the machine itself relies always come from the
/// embedded library, wherever on the path that stands: kMachineModules. A few of the library are
/// taken only if no other directory has them: kSubstitutes. Any thread may look and change the
/// path.
namespace vmrun::cli {

/// The embedded library as an element of the code path, and where its modules come from:
/// "embedded:lists".
inline constexpr std::string_view kEmbeddedLibrary = kEmbeddedPath;

/// Modules that speak to the machine in ways of its own, so that others of their names would not
/// do.
inline constexpr std::string_view kMachineModules[] = {
    "code", "dyntrace",  "erl_ddll", "erl_prim_loader", "error_handler", "file_eval",   "init",
    "os",   "prim_file", "prim_net", "seq_trace",       "user",          "vmrun_trace",
};

bool is_machine_module(std::string_view module);

/// Modules whose OTP originals say more, and are needed seldom enough that reading a file does not
/// matter. The library's are used where no OTP is installed, or where its file cannot be read.
inline constexpr std::string_view kSubstitutes[] = {"erl_erts_errors"};

struct FoundCode {
  enum class Kind { kNotFound, kCode, kBroken } kind = Kind::kNotFound;
  const std::uint8_t* begin = nullptr;  // into `owned` or the embedded library
  const std::uint8_t* end = nullptr;
  std::vector<std::uint8_t> owned;
  std::string path;      // what was read, for messages and module_info
  std::string listing;   // of the stage that the compile options ask for
  std::string messages;  // warnings, or with kBroken what is wrong
};

class CodeFinder {
 public:
  CodeFinder(std::vector<std::string> path, compile::CompileOptions compile_options);

  FoundCode find(std::string_view module) const;
  /// What stands in for a module of kSubstitutes whose file cannot be loaded.
  static FoundCode find_substitute(std::string_view module);
  /// The file that find would read, or "embedded:NAME"; empty: there is none.
  std::string locate(std::string_view module) const;
  /// The file as it is, whatever its name: .beam is taken as code, anything else compiled.
  /// `script`: main is exported by itself.
  FoundCode load_file(const std::string& file, bool script) const;
  /// Expressions as the function main/0 of a module of this name. flag: what they were given with,
  /// for messages.
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

/// Whole file into `bytes`; false with a sentence in `error` ("cannot read 'x': No such file or
/// directory").
[[nodiscard]] bool read_file(const std::string& path, std::vector<std::uint8_t>* bytes, std::string* error);

}  // namespace vmrun::cli
