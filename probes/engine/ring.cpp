// SPDX-License-Identifier: Apache-2.0
// The memory is the head in 4096 bytes, then the words. The memfd is sealed against changes of its
// size, because a process that could cut it would end the other side with SIGBUS.
#include "probes/engine/ring.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <new>

namespace vmrun::d {

namespace {

constexpr std::uint64_t kRingMagic = 0x33474e5244;  // DRNG3
constexpr std::size_t kHeadBytes = 4096;
constexpr std::uint64_t kLeastBytes = 1024;
constexpr std::size_t kRecordHead = sizeof(Record) / 8;
constexpr int kSeals = F_SEAL_SHRINK | F_SEAL_GROW;

// Returns the size of the record that starts with this word.
std::size_t entry_words(std::uint64_t first) { return static_cast<std::uint32_t>(first) / 8; }

// Reads a word once, because the other side may change it between two reads.
std::uint64_t read_once(std::uint64_t& word) { return std::atomic_ref(word).load(std::memory_order_relaxed); }

}  // namespace

Ring::Ring(void* memory, std::size_t bytes, int descriptor, const About& about)
    : memory_(memory),
      bytes_(bytes),
      descriptor_(descriptor),
      about_(about),
      words_(reinterpret_cast<std::uint64_t*>(static_cast<char*>(memory) + kHeadBytes)),
      mask_(about.capacity_words - 1) {}

Ring::~Ring() {
  munmap(memory_, bytes_);
  if (descriptor_ >= 0) close(descriptor_);
}

std::unique_ptr<Ring> Ring::mapped(int descriptor, const About& about) {
  static_assert(sizeof(Head) <= kHeadBytes);
  const std::size_t bytes = kHeadBytes + about.capacity_words * 8;
  void* memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0);
  if (memory == MAP_FAILED) return nullptr;
  return std::unique_ptr<Ring>(new Ring(memory, bytes, descriptor, about));
}

std::unique_ptr<Ring> Ring::make(std::uint64_t bytes, std::uint32_t number, std::uint64_t tid,
                                 Options::Policy policy) {
  const auto capacity = std::bit_ceil(std::clamp(bytes, kLeastBytes, kMostBytes));
  const int descriptor = memfd_create("vmtrace-ring", MFD_CLOEXEC | MFD_ALLOW_SEALING);
  if (descriptor < 0) return nullptr;
  std::unique_ptr<Ring> ring;
  if (ftruncate(descriptor, static_cast<off_t>(kHeadBytes + capacity)) == 0 &&
      fcntl(descriptor, F_ADD_SEALS, kSeals | F_SEAL_SEAL) == 0)
    ring = mapped(descriptor, {kRingMagic, capacity / 8, tid, number, policy});
  if (ring == nullptr) {
    close(descriptor);
    return nullptr;
  }
  new (ring->memory_) Head{ring->about_, {}, {}, {}, {}, {}};
  return ring;
}

std::unique_ptr<Ring> Ring::map(int descriptor, std::string& why) {
  About about{};
  struct stat status {};
  std::unique_ptr<Ring> ring;
  if (pread(descriptor, &about, sizeof about, 0) != sizeof about || about.magic != kRingMagic)
    why = "this is not a ring";
  else if (!std::has_single_bit(about.capacity_words) || about.capacity_words < kLeastBytes / 8 ||
           about.capacity_words > kMostBytes / 8)
    why = "the ring's size is impossible";
  else if (fstat(descriptor, &status) != 0 ||
           static_cast<std::uint64_t>(status.st_size) < kHeadBytes + about.capacity_words * 8 ||
           (fcntl(descriptor, F_GET_SEALS) & kSeals) != kSeals)
    why = "the ring has another size than it says, or one that may change";
  else if (ring = mapped(descriptor, about); ring == nullptr) why = "the ring cannot be mapped";
  if (ring == nullptr) close(descriptor);
  return ring;
}

// ---- The firing thread --------------------------------------------------------------------------

void Ring::drop(Drop kind) {
  auto& n = drops_[static_cast<unsigned>(kind)];
  const std::uint64_t now = n.load(std::memory_order_relaxed) + 1;  // this thread is the only writer
  n.store(now, std::memory_order_relaxed);
  head().drops[static_cast<unsigned>(kind)].store(now, std::memory_order_relaxed);
}

void Ring::say(bool full, const std::uint64_t (&drops)[kKinds]) {
  for (unsigned kind = 0; kind < kKinds; ++kind)
    head().drops[kind].store(drops[kind], std::memory_order_relaxed);
  head().full.store(full, std::memory_order_release);
}

void Ring::copy_in(const std::uint64_t* from, std::size_t words) {
  const std::size_t at = written_ & mask_, first = std::min<std::size_t>(words, mask_ + 1 - at);
  std::memcpy(words_ + at, from, first * 8);
  std::memcpy(words_, from + first, (words - first) * 8);
}

bool Ring::put(const std::uint64_t* record, std::size_t words) {
  if (words > mask_ + 1 - (written_ - taken_) && !make_room(words)) [[unlikely]] {
    drop(Drop::kPrincipal);
    return false;
  }
  copy_in(record, words);
  written_ += words;
  head().written.store(written_, std::memory_order_release);  // makes the record visible in one piece
  return true;
}

// A relaxed order suffices. The store comes before the first record of the new ring, and so before
// whatever that record leads to, which put() of the other rings releases.
void Ring::announce(std::uint32_t rings) {
  std::uint32_t known = head().rings.load(std::memory_order_relaxed);
  while (known < rings && !head().rings.compare_exchange_weak(known, rings, std::memory_order_relaxed)) {}
}

bool Ring::make_room(std::size_t words) {
  if (policy() == Options::Policy::kRing) return words <= mask_ + 1 && discard_oldest(words);
  const std::uint64_t said = head().taken.load(std::memory_order_acquire);
  // A consumer goes forward, and not past what was written. A position that says otherwise counts
  // as having taken nothing.
  if (said - taken_ <= written_ - taken_) taken_ = said;
  if (words <= mask_ + 1 - (written_ - taken_)) return true;
  if (policy() == Options::Policy::kFill) {
    full_.store(true, std::memory_order_release);
    head().full.store(true, std::memory_order_release);
  }
  return false;
}

// The lengths of records lie in the shared memory. A length that cannot be true discards all
// records.
bool Ring::discard_oldest(std::size_t words) {
  while (words > mask_ + 1 - (written_ - taken_)) {
    const std::size_t oldest = entry_words(read_once(words_[taken_ & mask_])), there = written_ - taken_;
    const bool is_true = oldest >= kRecordHead && oldest <= there;
    if (!is_true) drop(Drop::kPrincipal);
    taken_ += is_true ? oldest : there;
  }
  // This comes before the words are written over: a consumer that reads after the machine has died
  // finds whole records.
  head().taken.store(taken_, std::memory_order_release);
  std::atomic_thread_fence(std::memory_order_release);
  return true;
}

// ---- The consumer -------------------------------------------------------------------------------

void Ring::copy_out(std::uint64_t* to, std::uint64_t from, std::size_t words) const {
  if (words == 0) return;  // the machine writes nonsense: there may be no room either
  const std::size_t at = from & mask_, first = std::min<std::size_t>(words, mask_ + 1 - at);
  std::memcpy(to, words_ + at, first * 8);
  std::memcpy(to + first, words_, (words - first) * 8);
}

std::size_t Ring::available() {
  if (policy() == Options::Policy::kRing)
    read_ = std::max(read_, head().taken.load(std::memory_order_acquire));
  const std::uint64_t there = head().written.load(std::memory_order_acquire) - read_;
  return there <= mask_ + 1 ? there : 0;
}

bool Ring::empty() { return available() == 0; }

std::size_t Ring::take(std::vector<std::uint64_t>& out, std::size_t most_words) {
  const std::size_t there = available();  // it ends where a record ends
  if (there == 0) return 0;
  // The words are copied first and looked at afterwards, because the machine may change them
  // meanwhile.
  const std::size_t start = out.size();
  const std::size_t first = entry_words(read_once(words_[read_ & mask_]));
  out.resize(start + std::min(there, std::max(most_words, first)));
  copy_out(out.data() + start, read_, out.size() - start);
  std::size_t end = start;
  while (end < out.size()) {
    const std::size_t words = entry_words(out[end]);
    if (words < kRecordHead || words > there - (end - start)) {  // not a record: all that is there is skipped
      out.resize(start);
      read_ += there;
      break;
    }
    if (words > out.size() - end) break;
    end += words;
  }
  if (out.size() != start) {
    out.resize(end);
    read_ += end - start;
  }
  if (policy() != Options::Policy::kRing) head().taken.store(read_, std::memory_order_release);
  return out.size() - start;
}

}  // namespace vmrun::d
