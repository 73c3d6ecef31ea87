#pragma once

#include <string>
#include <string_view>

#include <fmt/format.h>

#include "vm/base/word.hpp"

/// Where a dump is written: a descriptor, or a text for people. Limits of bytes and of time: what
/// comes after is dropped. One thread.
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
  /// A limit is reached, or the descriptor takes no more: nothing that is put has an effect.
  bool full() const { return full_; }
  void flush();

 private:
  int fd_;
  std::string* text_ = nullptr;  // in place of a descriptor
  Word left_;
  SWord deadline_ns_;  // 0: none
  bool full_ = false;
  std::string buffer_;
};

}  // namespace vmrun::dump
