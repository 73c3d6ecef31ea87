// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include <fmt/format.h>

#include "vm/base/word.hpp"

/// The output of a dump: a descriptor, or a text for people. It has limits of bytes and of time;
/// output beyond them is dropped. Used by one thread.
namespace vmrun::dump {

class DumpFile {
 public:
  explicit DumpFile(int fd, Word most_bytes = ~Word{0}, SWord deadline_ns = 0)
      : fd_(fd), left_(most_bytes), deadline_ns_(deadline_ns) {}
  explicit DumpFile(std::string* text) : fd_(-1), text_(text), left_(~Word{0}), deadline_ns_(0) {}
  ~DumpFile() { flush(); }
  DumpFile(const DumpFile&) = delete;

  void put(std::string_view text);
  template <class... Arguments>
  void print(fmt::format_string<Arguments...> format, Arguments&&... arguments) {
    put(fmt::format(format, std::forward<Arguments>(arguments)...));
  }
  /// Whether a limit is reached or the descriptor takes no more. Output has no effect then.
  bool full() const { return full_; }
  void flush();

 private:
  int fd_;
  std::string* text_ = nullptr;  // instead of a descriptor
  Word left_;
  SWord deadline_ns_;  // 0: no deadline
  bool full_ = false;
  std::string buffer_;
};

}  // namespace vmrun::dump
