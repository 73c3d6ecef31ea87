#pragma once
// The compiler's front door: source text in, `.beam` bytes and messages out. Any thread may
// compile; compilations share nothing but the atom table. The work is done on a thread of its own
// with a stack that holds the deepest syntax tree the parser admits, so callers on small stacks are
// safe.

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace vmrun::compile {

struct CompileOptions {
  std::vector<std::string> include_path;
  std::vector<std::string> library_path;  // for -include_lib
  /// An installed Erlang/OTP whose header files -include_lib finds too: its root, "none", or empty
  /// for where find_otp_root() finds one.
  std::string otp_root;
  std::vector<std::pair<std::string, std::string>> macros;
  /// Used when there is no -module attribute. Empty: the stem of the file name.
  std::string default_module;
  /// The name that messages and stack traces show for a file read by compile_file. Empty: its path.
  std::string shown_name;
  /// What is known of functions of other modules: a sentence about a call that will fail, or
  /// nothing. It becomes a warning.
  std::function<std::string(std::string_view module, std::string_view function, uint32_t arity)>
      check_remote_call;
  /// Whether a module of the library has a function: one that is called without its module may be
  /// meant.
  std::function<bool(std::string_view module, std::string_view function, uint32_t arity)> library_has;
  /// The text is a sequence of expressions, which main/0 evaluates; a full stop may end it.
  bool expressions = false;
  /// Scripts: -module is optional, main/0 and main/1 are exported by themselves.
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
  std::string module;         // name of the module
  std::vector<uint8_t> beam;  // empty unless ok
  std::string core, ssa, assembly;
  std::string preprocessed;
  std::string messages;  // errors and warnings as text for a terminal
  size_t errors = 0;
  size_t warnings = 0;
  /// Parse transforms that the module asks for and that are not this compiler's: not ok, which a
  /// compiler that has them may change. Its text for that one, with what a script need not say.
  std::vector<std::string> transforms;
  std::string complete_text;
};

/// Compiles a text; `path` is the name that messages and stack traces show and where -include looks
/// first.
CompileResult compile_source(std::string path, std::string text, const CompileOptions& options);

/// Reads and compiles a file.
CompileResult compile_file(const std::string& path, const CompileOptions& options);

/// Whether what is written there should be in colours: it is a terminal, of a kind that has them
/// (TERM), and its user wants them (NO_COLOR, https://no-color.org).
bool wants_colours(int fd);

}  // namespace vmrun::compile
