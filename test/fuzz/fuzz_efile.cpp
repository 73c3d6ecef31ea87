// SPDX-License-Identifier: Apache-2.0
// Fuzz entry for the file driver's commands. Whatever the bytes: no crash, no read outside them,
// texts end inside them; and the beginning of a command is judged as all of it is, or more is asked
// for.
//   clang++ -fsanitize=fuzzer,address,undefined … for libFuzzer; the Meson target fuzz_efile has a
//   driver of its own (random_driver.cpp).
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>

#include "drivers/efile/file_command.hpp"

using namespace vmrun::efile;

namespace {

void require(bool good, const char* what) {
  if (good) return;
  std::fprintf(stderr, "fuzz_efile: %s\n", what);
  std::abort();
}

/// The bytes where nothing lies behind them.
std::unique_ptr<char[]> exact_copy(const std::uint8_t* data, std::size_t size) {
  auto copy = std::make_unique<char[]>(size);
  if (size) std::memcpy(copy.get(), data, size);
  return copy;
}

bool ends_inside(const char* text, const char* bytes, std::size_t size) {
  return !text || (text >= bytes && std::memchr(text, 0, size - static_cast<std::size_t>(text - bytes)));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto bytes = exact_copy(data, size);
  Request whole;
  std::size_t data_at = 0;
  const Decoded how = decode(bytes.get(), size, size, &whole, &data_at);
  require(how != Decoded::kNeedMore, "asks for more than there is");
  if (how == Decoded::kDone) {
    require(data_at <= size, "data behind the end");
    for (const char* text : {whole.user_tag, whole.name, whole.name2})
      require(ends_inside(text, bytes.get(), size), "a text without an end");
  }
  const std::size_t seen = size / 2;
  const auto beginning = exact_copy(data, seen);
  Request part;
  const Decoded early = decode(beginning.get(), seen, size, &part, &data_at);
  require(early == Decoded::kNeedMore || early == how, "judges the beginning in another way");
  return 0;
}
