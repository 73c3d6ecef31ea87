// SPDX-License-Identifier: Apache-2.0
// Drives a fuzz entry without libFuzzer: NAME [-runs=N] [-seconds=N] [-seed=N|time] [-keep=FOLDER]
// [-best=N] [FILE...]. With files, or all files of a folder: each of them, then changed copies of
// them; without: random bytes. VMRUN_FUZZ_SECONDS goes before -seconds. The seed is printed first,
// so that what was found can be found again.
//
// In a build with -Dfuzz=true the compiler calls __sanitizer_cov_trace_pc in every basic block.
// Inputs that reach a new pair of blocks are changed further, as AFL does, and are written into
// the folder that -keep names. It is read at the start like other folders: the next run goes on
// from there. An input that crashes or makes a sanitizer speak is left in FOLDER/crash.
//
// -best=N changes nothing: of the files, short ones first, it writes the N that add most pairs
// into the folder that -keep names. This makes the small corpora in test/fuzz/corpora.
#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);
extern "C" [[gnu::weak]] void __sanitizer_set_death_callback(void (*)());

// Pairs of basic blocks that followed each other since the program began. Two pairs may share a
// place: a new one is then overlooked now and then.
constexpr std::size_t kPlaces = 1 << 20;
static std::uint8_t seen[kPlaces];
static std::size_t count_seen;
static thread_local std::size_t block_before;
extern "C" const char __executable_start;

extern "C" __attribute__((no_sanitize_coverage)) void __sanitizer_cov_trace_pc() {
  const auto address = static_cast<const char*>(__builtin_return_address(0)) - &__executable_start;
  const std::size_t block = static_cast<std::size_t>(address) * 0x9E3779B97F4A7C15u >> 44;
  const std::size_t place = (block ^ block_before) % kPlaces;
  block_before = block >> 1;
  count_seen += !seen[place];
  seen[place] = 1;
}

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

void write(const std::filesystem::path& path, const Bytes& b) {
  std::ofstream(path, std::ios::binary)
      .write(reinterpret_cast<const char*>(b.data()), static_cast<std::streamsize>(b.size()));
}

std::filesystem::path crash;
const Bytes* tried = nullptr;

void leave_input() {
  if (!crash.empty() && tried) write(crash, *std::exchange(tried, nullptr));
}

void leave_input_at(int signal) {
  leave_input();
  std::signal(signal, SIG_DFL);
  std::raise(signal);
}

/// Returns how many pairs the input reached that none before it did.
std::size_t run(const Bytes& b) {
  tried = &b;
  const auto before = count_seen;
  LLVMFuzzerTestOneInput(b.data(), b.size());
  return count_seen - before;
}

void write_into(const std::filesystem::path& folder, const Bytes& b) {
  const std::string_view text(reinterpret_cast<const char*>(b.data()), b.size());
  char name[17];
  std::snprintf(name, sizeof name, "%016zx", std::hash<std::string_view>{}(text));
  write(folder / name, b);
}

int write_best(std::vector<Bytes>& corpus, std::uint64_t n, const std::filesystem::path& folder) {
  std::filesystem::create_directories(folder);
  std::stable_sort(corpus.begin(), corpus.end(),
                   [](const Bytes& a, const Bytes& b) { return a.size() < b.size(); });
  std::vector<std::pair<std::size_t, const Bytes*>> gains;
  for (const Bytes& b : corpus) gains.emplace_back(run(b), &b);
  std::stable_sort(gains.begin(), gains.end(),
                   [](const auto& a, const auto& b) { return a.first > b.first; });
  for (const auto& [gain, b] : gains)
    if (gain && n && n--) write_into(folder, *b);
  std::printf("%zu pairs of blocks reached\n", count_seen);
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  std::uint64_t runs = 100000, seconds = 0, seed = 1, best = 0;
  std::vector<Bytes> corpus;
  std::filesystem::path keep;
  for (int i = 1; i < argc; ++i) {
    const std::string_view argument = argv[i];
    if (argument.starts_with("-runs=")) runs = std::strtoull(argv[i] + 6, nullptr, 10);
    else if (argument.starts_with("-seconds=")) seconds = std::strtoull(argv[i] + 9, nullptr, 10);
    else if (argument == "-seed=time") seed = static_cast<std::uint64_t>(std::time(nullptr));
    else if (argument.starts_with("-seed=")) seed = std::strtoull(argv[i] + 6, nullptr, 10);
    else if (argument.starts_with("-keep=")) keep = argument.substr(6);
    else if (argument.starts_with("-best=")) best = std::strtoull(argv[i] + 6, nullptr, 10);
    else if (!read(argv[i], corpus)) return std::fprintf(stderr, "cannot read %s\n", argv[i]), 2;
  }
  if (const char* given = std::getenv("VMRUN_FUZZ_SECONDS"); given && seconds)
    seconds = std::strtoull(given, nullptr, 10);
  std::fprintf(stderr, "seed %llu\n", static_cast<unsigned long long>(seed));
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(seconds);
  std::mt19937_64 random(seed);
  if (best) return write_best(corpus, best, keep);
  if (!keep.empty()) {
    crash = keep / "crash";
    std::filesystem::create_directories(keep);
    std::filesystem::remove(crash);
    read(keep, corpus);
    for (const int signal : {SIGABRT, SIGSEGV, SIGBUS, SIGFPE, SIGILL}) std::signal(signal, leave_input_at);
    if (__sanitizer_set_death_callback) __sanitizer_set_death_callback(leave_input);
  }
  for (const Bytes& b : corpus) run(b);
  if (corpus.empty()) corpus.push_back({131});
  const bool guided = count_seen != 0;
  std::uint64_t i = 0, kept = 0;
  for (; seconds ? std::chrono::steady_clock::now() < end : i < runs; ++i) {
    Bytes b = changed(corpus[random() % corpus.size()], random);
    const bool is_new = run(b) != 0;
    if (guided && is_new && !keep.empty()) write_into(keep, b), ++kept;
    if (guided ? is_new : corpus.size() < 4096 && random() % 8 == 0) corpus.push_back(std::move(b));
  }
  if (guided)
    std::printf("%zu pairs of blocks reached, %llu inputs kept\n", count_seen,
                static_cast<unsigned long long>(kept));
  std::printf("%llu runs, no finding\n", static_cast<unsigned long long>(i));
}
