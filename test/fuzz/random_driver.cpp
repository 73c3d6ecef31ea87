// Drives a fuzz entry without libFuzzer: NAME [-runs=N] [-seconds=N] [-seed=N|time] [FILE...].
// With files, or all files of a folder: each of them, then changed copies of them; without: random
// bytes. VMRUN_FUZZ_SECONDS goes before -seconds. The seed is printed first, so that what was found
// can be found again.
#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <string_view>
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

/// A file, or all files of a folder in the order of their names: a seed means the same again.
bool read(const std::filesystem::path& path, std::vector<Bytes>& corpus) {
  std::error_code error;
  std::vector<std::filesystem::path> files = {path};
  if (std::filesystem::is_directory(path, error)) {
    files.clear();
    for (const auto& entry : std::filesystem::recursive_directory_iterator(path, error))
      if (entry.is_regular_file()) files.push_back(entry.path());
    std::ranges::sort(files);
  }
  for (const auto& file : files) {
    std::ifstream in(file, std::ios::binary);
    if (!in) return false;
    corpus.emplace_back(std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>());
  }
  return true;
}

}  // namespace

int main(int argc, char** argv) {
  std::uint64_t runs = 100000, seconds = 0, seed = 1;
  std::vector<Bytes> corpus;
  for (int i = 1; i < argc; ++i) {
    const std::string_view argument = argv[i];
    if (argument.starts_with("-runs=")) runs = std::strtoull(argv[i] + 6, nullptr, 10);
    else if (argument.starts_with("-seconds=")) seconds = std::strtoull(argv[i] + 9, nullptr, 10);
    else if (argument == "-seed=time") seed = static_cast<std::uint64_t>(std::time(nullptr));
    else if (argument.starts_with("-seed=")) seed = std::strtoull(argv[i] + 6, nullptr, 10);
    else if (!read(argv[i], corpus)) return std::fprintf(stderr, "cannot read %s\n", argv[i]), 2;
  }
  if (const char* given = std::getenv("VMRUN_FUZZ_SECONDS"); given && seconds)
    seconds = std::strtoull(given, nullptr, 10);
  std::fprintf(stderr, "seed %llu\n", static_cast<unsigned long long>(seed));
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(seconds);
  std::mt19937_64 random(seed);
  for (const Bytes& b : corpus) LLVMFuzzerTestOneInput(b.data(), b.size());
  if (corpus.empty()) corpus.push_back({131});
  std::uint64_t i = 0;
  for (; seconds ? std::chrono::steady_clock::now() < end : i < runs; ++i) {
    Bytes b = changed(corpus[random() % corpus.size()], random);
    LLVMFuzzerTestOneInput(b.data(), b.size());
    if (corpus.size() < 4096 && random() % 8 == 0) corpus.push_back(std::move(b));
  }
  std::printf("%llu runs, no finding\n", static_cast<unsigned long long>(i));
}
