#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/compile/compiler.hpp"

/// Where the code of a module comes from: the directories given (the script's own, then -pa), as
/// NAME.beam, NAME.act or NAME.erl, and the embedded library. The library comes first, as in a
/// stock system its modules cannot be replaced by accident. Set up before processes run, read-only
/// afterwards: any thread may look.
namespace vmrun::cli {

struct FoundCode {
  enum class Kind { kNotFound, kCode, kBroken } kind = Kind::kNotFound;
  const std::uint8_t* begin = nullptr;  // into `owned` or the embedded library
  const std::uint8_t* end = nullptr;
  std::vector<std::uint8_t> owned;
  std::string path;      // what was read, for messages and module_info
  std::string messages;  // warnings, or with kBroken what is wrong
};

class CodeFinder {
 public:
  CodeFinder(std::vector<std::string> directories, compile::CompileOptions compile_options)
      : directories_(std::move(directories)), compile_options_(std::move(compile_options)) {}

  FoundCode find(std::string_view module) const;
  /// The file as it is, whatever its name: .beam is taken as code, anything else compiled.
  /// `script`: main is exported by itself.
  FoundCode load_file(const std::string& path, bool script) const;

 private:
  std::vector<std::string> directories_;
  compile::CompileOptions compile_options_;
};

/// Whole file into `bytes`; false with a sentence in `error` ("cannot read 'x': No such file or
/// directory").
[[nodiscard]] bool read_file(const std::string& path, std::vector<std::uint8_t>* bytes, std::string* error);

}  // namespace vmrun::cli
