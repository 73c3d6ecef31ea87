// SPDX-License-Identifier: Apache-2.0
#include "runtime/compile/source/source.hpp"

#include <fcntl.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>
#include <algorithm>
#include <cctype>
#include <cerrno>
#include <cstring>

#include "vm/base/utf8.hpp"

namespace vmrun::compile {

std::uint32_t Sources::add(std::string name, std::string text) {
  files_.push_back({std::move(name), std::move(text), {}});
  return static_cast<std::uint32_t>(files_.size() - 1);
}

std::uint32_t Sources::add_name(std::string name) {
  for (std::uint32_t i = 0; i < files_.size(); ++i)
    if (files_[i].name == name) return i;
  return add(std::move(name), {});
}

std::string_view Sources::line(std::uint32_t file, std::uint32_t line) const {
  const File& f = files_[file];
  if (f.line_starts.empty()) {
    f.line_starts.push_back(0);
    for (std::size_t at = f.text.find('\n'); at != std::string::npos; at = f.text.find('\n', at + 1))
      f.line_starts.push_back(at + 1);
  }
  if (line == 0 || line > f.line_starts.size()) return {};
  std::size_t from = f.line_starts[line - 1];
  std::size_t to = f.text.find('\n', from);
  std::string_view text(f.text);
  text = text.substr(from, to == std::string::npos ? to : to - from);
  if (!text.empty() && text.back() == '\r') text.remove_suffix(1);
  return text;
}

bool read_source_file(const std::string& path, std::string& text, std::string& error) {
  int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) {
    error = errno == ENOENT ? "no such file" : std::strerror(errno);
    return false;
  }
  struct stat st;
  if (fstat(fd, &st) == 0 && S_ISDIR(st.st_mode)) {
    close(fd);
    error = "is a directory";
    return false;
  }
  text.clear();
  if (S_ISREG(st.st_mode)) text.reserve(static_cast<std::size_t>(st.st_size));
  char buffer[65536];
  for (;;) {
    ssize_t n = read(fd, buffer, sizeof buffer);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) {
      error = std::strerror(errno);
      close(fd);
      return false;
    }
    if (n == 0) break;
    text.append(buffer, static_cast<std::size_t>(n));
  }
  close(fd);
  return true;
}

namespace {

/// Returns the part of a line that names the encoding in a comment; empty if there is none.
std::string_view named_encoding(std::string_view line) {
  std::size_t at = line.find('%');
  if (at == line.npos || (at = line.find("coding", at)) == line.npos) return {};
  line.remove_prefix(at + 6);
  if (line.empty() || (line[0] != ':' && line[0] != '=')) return {};
  line.remove_prefix(std::min(line.find_first_not_of(' ', 1), line.size()));
  const auto* end = std::ranges::find_if(line, [](unsigned char c) { return !std::isalnum(c) && c != '-'; });
  return {line.begin(), end};
}

}  // namespace

void decode_source(std::string& text) {
  std::size_t start = 0;
  for (int line = 0; line < 2 && start < text.size(); ++line) {
    const std::size_t end = std::min(text.find('\n', start), text.size());
    const std::string_view name = named_encoding(std::string_view(text).substr(start, end - start));
    if (name.size() == 7 && ::strncasecmp(name.data(), "latin-1", 7) == 0) {
      text.replace(static_cast<std::size_t>(name.data() - text.data()), name.size(), "utf-8");
      text = utf8::from_latin1(text);
      return;
    }
    if (!name.empty()) return;
    start = end + 1;
  }
}

std::size_t find_invalid_utf8(std::string_view text) {
  for (std::size_t i = 0; i < text.size();) {
    const std::size_t size = utf8::decode(text.data() + i, text.size() - i).size;
    if (size == 0) return i;
    i += size;
  }
  return std::string_view::npos;
}

char32_t next_code_point(std::string_view text, std::size_t& at) { return utf8::next(text, at); }

}  // namespace vmrun::compile
