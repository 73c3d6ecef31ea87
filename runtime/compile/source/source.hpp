// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <vector>

#include "vm/base/loc.hpp"
#include "vm/term/print.hpp"

/// Source texts of one compilation. A Loc names a file by its index in Sources. Owned by one
/// compilation; one thread at a time.
namespace vmrun::compile {

class Sources {
 public:
  /// Registers a text under the name that messages show. Returns its file index.
  std::uint32_t add(std::string name, std::string text);
  /// Registers a name without text, as introduced by `-file("grammar.yrl", 7)`.
  std::uint32_t add_name(std::string name);

  const std::string& name(std::uint32_t file) const { return files_[file].name; }
  std::string_view text(std::uint32_t file) const { return files_[file].text; }
  std::size_t count() const { return files_.size(); }
  /// Returns the text of a line without its end; empty when there is no such line.
  std::string_view line(std::uint32_t file, std::uint32_t line) const;

 private:
  struct File {
    std::string name;
    std::string text;
    mutable std::vector<std::size_t> line_starts;  // filled on first use
  };
  std::deque<File> files_;
};

/// Reads a whole regular file. On failure returns false and sets `error` to the reason ("is a
/// directory", …).
bool read_source_file(const std::string& path, std::string& text, std::string& error);

/// Converts source that says "coding: latin-1" in a comment of its first two lines, as epp(3) reads
/// it, to UTF-8, and changes that comment.
void decode_source(std::string& text);

/// Returns the offset of the first byte that is not well-formed UTF-8, or npos.
std::size_t find_invalid_utf8(std::string_view text);

/// Decodes the code point at `at` of well-formed UTF-8 and advances `at`.
char32_t next_code_point(std::string_view text, std::size_t& at);

}  // namespace vmrun::compile
