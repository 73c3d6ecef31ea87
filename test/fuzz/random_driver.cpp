// Drives a fuzz entry without libFuzzer: NAME [-runs=N] [-seed=N] [FILE...]. With files: each of
// them, then changed copies of them; without: random bytes.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <random>
#include <string>
#include <vector>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace {

using Bytes = std::vector<std::uint8_t>;

/// A few small changes: bytes replaced, inserted, removed, repeated.
Bytes changed(Bytes b, std::mt19937_64& random) {
  for (auto n = 1 + random() % 4; n > 0; --n) {
    const auto at = b.empty() ? 0 : random() % b.size();
    switch (random() % 5) {
      case 0:
        b.insert(b.begin() + static_cast<std::ptrdiff_t>(at), static_cast<std::uint8_t>(random()));
        break;
      case 1:
        if (!b.empty()) b.erase(b.begin() + static_cast<std::ptrdiff_t>(at));
        break;
      case 2:
        if (!b.empty()) b[at] = static_cast<std::uint8_t>(random());
        break;
      case 3:
        if (!b.empty()) b[at] = static_cast<std::uint8_t>(b[at] ^ 1u << random() % 8);
        break;
      case 4: b.insert(b.end(), b.begin() + static_cast<std::ptrdiff_t>(at), b.end()); break;
    }
  }
  if (b.size() > 1 << 16) b.resize(1 << 16);
  return b;
}

}  // namespace

int main(int argc, char** argv) {
  std::uint64_t runs = 100000, seed = 1;
  std::vector<Bytes> corpus;
  for (int i = 1; i < argc; ++i) {
    if (std::strncmp(argv[i], "-runs=", 6) == 0) runs = std::strtoull(argv[i] + 6, nullptr, 10);
    else if (std::strncmp(argv[i], "-seed=", 6) == 0) seed = std::strtoull(argv[i] + 6, nullptr, 10);
    else {
      std::ifstream in(argv[i], std::ios::binary);
      if (!in) return std::fprintf(stderr, "cannot read %s\n", argv[i]), 2;
      corpus.emplace_back(std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>());
    }
  }
  std::mt19937_64 random(seed);
  for (const Bytes& b : corpus) LLVMFuzzerTestOneInput(b.data(), b.size());
  if (corpus.empty()) corpus.push_back({131});
  for (std::uint64_t i = 0; i < runs; ++i) {
    Bytes b = changed(corpus[random() % corpus.size()], random);
    LLVMFuzzerTestOneInput(b.data(), b.size());
    if (corpus.size() < 4096 && random() % 8 == 0) corpus.push_back(std::move(b));
  }
  std::printf("%llu runs, no finding\n", static_cast<unsigned long long>(runs));
}
