// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdio>
#include <string>

/// Where vmtrace writes: standard output, or FILE of -o. A log is appended to the file. A document
/// is FILE.part until all of it has been written, and gets its name then. So a half document is
/// never taken for a whole one, and what FILE held before stays until it can be replaced. One
/// thread uses it.
namespace vmrun::d {

class OutputFile {
 public:
  /// name: empty for standard output. Fails (tracing.hpp) when the file cannot be opened.
  OutputFile(const std::string& name, bool is_document);
  /// Removes a document that is not finished.
  ~OutputFile();
  OutputFile(const OutputFile&) = delete;

  std::FILE* file() const { return file_; }
  const std::string& name() const { return name_; }
  /// Called when all has been written. Returns false, with errno, when the output could not be
  /// completed.
  [[nodiscard]] bool finish();

 private:
  std::string name_;
  std::string part_, place_;  // of a document: its name while it is written, and its final name
  std::FILE* file_ = stdout;
};

}  // namespace vmrun::d
