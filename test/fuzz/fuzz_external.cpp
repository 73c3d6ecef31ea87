// SPDX-License-Identifier: Apache-2.0
// Fuzz entry for the external term format. Whatever the bytes: no crash, no read outside them; what
// decodes also encodes, to bytes that decode to an equal term.
//   clang++ -fsanitize=fuzzer,address,undefined … for libFuzzer; the Meson target fuzz_external has
//   a driver of its own (random_driver.cpp).
#include <cstdint>
#include <cstdio>
#include <cstdlib>

#include "vm/heap/literal.hpp"
#include "vm/machine.hpp"
#include "vm/term/compare.hpp"
#include "vm/term/external.hpp"

using namespace vmrun;

namespace {

void require(bool good, const char* what) {
  if (good) return;
  std::fprintf(stderr, "fuzz_external: %s\n", what);
  std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const bool ready = (connect_machine(), init_literal_area(), true);
  (void)ready;
  Arena heap;
  DecodeOptions options;
  options.safe = size % 2;
  const Decoded d = decode_external(heap, data, size, options);
  require(d.used_bytes <= size, "used more bytes than there are");
  require(d.term.is_value() == (d.error == nullptr), "neither a term nor an error");
  if (!d.term) return 0;
  EncodeOptions how;
  how.minor_version = size % 3;
  how.compression = size % 5 == 0 ? 6 : 0;
  const std::string bytes = encode_external(d.term, how);
  const Decoded again =
      decode_external(heap, reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size());
  require(again.term.is_value(), "cannot read its own output");
  require(how.minor_version == 0 || equal_exact(d.term, again.term), "reads its own output as another term");
  return 0;
}
