// Fuzz entry for the compiler. Whatever the text: messages or a module, no crash, and an end. Bytes
// are taken as they are and once more with two of their words exchanged, which stays closer to
// programs than changed bytes do.
//   fuzz_front -runs=N test/golden/*/*.act     (random_driver.cpp; best in a sanitizer build)
#include <cctype>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "runtime/compile/compiler.hpp"

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

/// Exchanges two words; which ones, the text itself decides.
std::string exchanged(const std::string& text) {
  std::vector<std::pair<std::size_t, std::size_t>> words;
  for (std::size_t i = 0; i < text.size();) {
    std::size_t from = i;
    auto alnum = [&](std::size_t k) {
      return std::isalnum(static_cast<unsigned char>(text[k])) || text[k] == '_';
    };
    while (i < text.size() && alnum(i) && alnum(from)) i++;
    if (i == from) i++;
    if (text[from] > ' ') words.emplace_back(from, i - from);
  }
  if (words.size() < 2) return text;
  std::uint64_t h = 14695981039346656037ull;
  for (char c : text) h = (h ^ static_cast<unsigned char>(c)) * 1099511628211ull;
  auto a = words[h % words.size()], b = words[(h >> 32) % words.size()];
  if (a.first > b.first) std::swap(a, b);
  if (a.first + a.second > b.first) return text;
  return text.substr(0, a.first) + text.substr(b.first, b.second) +
         text.substr(a.first + a.second, b.first - a.first - a.second) + text.substr(a.first, a.second) +
         text.substr(b.first + b.second);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::string text(reinterpret_cast<const char*>(data), size);
  compile(text, true);
  compile(exchanged(text), true);
  return 0;
}
