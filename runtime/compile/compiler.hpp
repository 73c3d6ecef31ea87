// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

/// The compiler's front door: source text in, `.beam` bytes and messages out. Any thread may
/// compile; compilations share only the atom table. The work is done on a thread of its own, whose
/// stack suffices for the deepest syntax tree that the parser admits, so callers may have small
/// stacks.
namespace vmrun::compile {

struct CompileOptions {
  std::vector<std::string> include_path;
  std::vector<std::string> library_path;  // for -include_lib
  /// The root of an installed Erlang/OTP whose header files -include_lib finds too; "none"; or
  /// empty for the one that find_otp_root() finds.
  std::string otp_root;
  /// The release of OTP that the code is for. The default's instructions are those of all releases
  /// before 29.
  int release = 25;
  std::vector<std::pair<std::string, std::string>> macros;
  /// Used when there is no -module attribute. Empty: the stem of the file name.
  std::string default_module;
  /// The name of a file read by compile_file in messages and stack traces. Empty: its path.
  std::string shown_name;
  /// Returns a sentence about a call of another module's function that will fail, or "". The
  /// sentence becomes a warning.
  std::function<std::string(std::string_view module, std::string_view function, std::uint32_t arity)>
      check_remote_call;
  /// Whether a module of the library has a function. A function that is called without its module
  /// may be meant.
  std::function<bool(std::string_view module, std::string_view function, std::uint32_t arity)> library_has;
  /// The text is a sequence of expressions, which main/0 evaluates; a full stop may end it.
  bool expressions = false;
  /// Scripts: -module is optional, and main/0 and main/1 are exported automatically.
  bool script = false;
  bool warnings = true;
  bool colours = false;          // in `messages`: see wants_colours()
  bool want_core = false;        // fill `core` (-core)
  bool want_ssa = false;         // fill `ssa` (-ssa)
  bool want_assembly = false;    // fill `assembly` (-S)
  bool only_preprocess = false;  // fill `preprocessed` and stop (-E)
  bool only_check = false;       // stop after lint
};

struct CompileResult {
  bool ok = false;
  std::string module;              // name of the module
  std::vector<std::uint8_t> beam;  // empty if not ok
  std::string core, ssa, assembly;
  std::string preprocessed;
  std::string messages;  // errors and warnings as text for a terminal
  std::size_t errors = 0;
  std::size_t warnings = 0;
  /// Parse transforms that the module asks for and that this compiler does not have. The result is
  /// not ok then, but a compiler that has them may compile complete_text, the module's text with
  /// the declarations that a script may leave out.
  std::vector<std::string> transforms;
  std::string complete_text;
};

/// Compiles a text. `path` is its name in messages and stack traces; -include looks in its folder
/// first.
CompileResult compile_source(std::string path, std::string text, const CompileOptions& options);

/// Reads and compiles a file.
CompileResult compile_file(const std::string& path, const CompileOptions& options);

/// Whether text written to `fd` should have colours: it is a terminal that has them (TERM), and the
/// user wants them (NO_COLOR, https://no-color.org).
bool wants_colours(int fd);

}  // namespace vmrun::compile
