// SPDX-License-Identifier: Apache-2.0
#include "probes/vmtrace/output_file.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <utility>

#include <fmt/format.h>

#include "probes/vmtrace/tracing.hpp"

namespace vmrun::d {
namespace {

/// Returns the file that a link leads to, so that the link stays.
std::string behind_links(const std::string& name) {
  const std::unique_ptr<char, decltype(&std::free)> path(realpath(name.c_str(), nullptr), &std::free);
  return path == nullptr ? name : path.get();
}

}  // namespace

OutputFile::OutputFile(const std::string& name, bool is_document)
    : name_(name.empty() ? "standard output" : name) {
  if (name.empty()) return;
  struct stat before {};
  const bool is_there = stat(name.c_str(), &before) == 0;
  if (is_document && (!is_there || S_ISREG(before.st_mode))) {
    place_ = behind_links(name);
    part_ = place_ + ".part";
  }
  const std::string& opened = part_.empty() ? name : part_;
  file_ = std::fopen(opened.c_str(), is_document ? "we" : "ae");
  if (file_ == nullptr) fail(fmt::format("failed to open {}: {}", opened, std::strerror(errno)));
  if (is_there && !part_.empty()) (void)fchmod(fileno(file_), before.st_mode & 07777);
}

OutputFile::~OutputFile() {
  if (file_ != nullptr && file_ != stdout) std::fclose(file_);
  if (!part_.empty()) (void)unlink(part_.c_str());
}

bool OutputFile::finish() {
  if (file_ == stdout) return std::fflush(file_) == 0;
  if (std::fclose(std::exchange(file_, nullptr)) != 0) return false;
  if (part_.empty()) return true;
  if (std::rename(part_.c_str(), place_.c_str()) != 0) return false;
  part_.clear();
  return true;
}

}  // namespace vmrun::d
