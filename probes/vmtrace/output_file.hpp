#pragma once

#include <cstdio>
#include <string>

/// Where vmtrace writes: standard output, or FILE of -o. What is a log is added to; a document has
/// its name once all of it has been written, and is FILE.part until then, so that nobody takes a
/// half for the whole, and what FILE held before stays until there is something in its place. One
/// thread.
namespace vmrun::d {

class OutputFile {
 public:
  /// name: empty for standard output. Fails (tracing.hpp) when it cannot be opened.
  OutputFile(const std::string& name, bool is_document);
  /// A document that is not finished is removed.
  ~OutputFile();
  OutputFile(const OutputFile&) = delete;

  std::FILE* file() const { return file_; }
  const std::string& name() const { return name_; }
  /// All has been written. False and errno: it has not.
  [[nodiscard]] bool finish();

 private:
  std::string name_;
  std::string part_, place_;  // of a document: where it is written, and where it goes then
  std::FILE* file_ = stdout;
};

}  // namespace vmrun::d
