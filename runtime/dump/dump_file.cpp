// SPDX-License-Identifier: Apache-2.0
#include "runtime/dump/dump_file.hpp"

#include <unistd.h>

#include <cerrno>

#include "vm/base/clock.hpp"
#include "vm/base/halt.hpp"

namespace vmrun::dump {

namespace {
constexpr std::size_t kBufferBytes = 1 << 16;
}

void DumpFile::put(std::string_view text) {
  dump_goes_on();
  if (full_) return;
  if (text.size() > left_) {
    text = "\n=abort:CRASH_DUMP_SIZE_LIMIT_REACHED\n";
    full_ = true;
  } else {
    left_ -= text.size();
  }
  buffer_ += text;
  if (full_ || buffer_.size() >= kBufferBytes) flush();
}

void DumpFile::flush() {
  if (text_) {
    *text_ += buffer_;
    buffer_.clear();
    return;
  }
  std::string_view rest = buffer_;
  while (!rest.empty()) {
    const ssize_t n = write(fd_, rest.data(), rest.size());
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) {
      full_ = true;
      break;
    }
    rest.remove_prefix(static_cast<std::size_t>(n));
  }
  buffer_.clear();
  if (deadline_ns_ && monotonic_ns() > static_cast<Word>(deadline_ns_)) full_ = true;
}

}  // namespace vmrun::dump
