// SPDX-License-Identifier: Apache-2.0
// Fuzz entry for the compiler. Whatever the text: messages or a module, no crash, and an end. Bytes
// are taken as they are and once more with two of their words exchanged, which stays closer to
// programs than changed bytes do.
//   fuzz_front -runs=N test/golden/*/*.act     (random_driver.cpp; best in a sanitizer build)
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>

#include "runtime/compile/compiler.hpp"
#include "test/fuzz/words.hpp"
#include "vm/machine.hpp"

namespace {

void compile(const std::string& text, bool script) {
  vmrun::compile::CompileOptions options;
  options.script = script;
  auto result = vmrun::compile::compile_source("fuzz.erl", text, options);
  if (result.ok != (result.errors == 0) || result.ok == result.beam.empty()) {
    std::fprintf(stderr, "fuzz_front: %zu errors, but ok=%d and %zu bytes of code\n", result.errors,
                 result.ok, result.beam.size());
    std::abort();
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const bool connected = (vmrun::connect_machine(), true);
  (void)connected;
  std::string text(reinterpret_cast<const char*>(data), size);
  compile(text, true);
  compile(vmrun::fuzz::exchanged(text), true);
  return 0;
}
