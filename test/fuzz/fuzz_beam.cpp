// Fuzz entry for everything that reads .beam bytes: parser, literals, loader, disassembler. With
// clang: -fsanitize=fuzzer,address.
#include <cstddef>
#include <cstdint>

#include "vm/code/code_server.hpp"
#include "vm/code/loader.hpp"
#include "vm/heap/literal.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace vmrun;
  static const bool once = (init_literal_area(), true);
  (void)once;
  BeamFile file;
  BeamError error;
  if (!parse_beam(data, size, &file, &error)) return 0;
  if (Module* m = build_module(file, &error)) {
    (void)disassemble(*m);
    delete m;
  }
  return 0;
}
