// The memory: a page with the head, then a boost::lockfree::spsc_queue of words whose capacity is
// part of its type, so that it holds no pointer and works wherever it is mapped. The memfd is
// sealed against changes of its size: a reader that cuts it could end the machine with SIGBUS.
#include "probes/engine/ring.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <bit>
#include <boost/lockfree/spsc_queue.hpp>
#include <new>
#include <utility>

namespace vmrun::d {

namespace {

constexpr std::uint64_t kMagic = 0x31474e5244;  // DRNG1
constexpr std::size_t kHeadBytes = 4096;
constexpr unsigned kLeast = 10, kMost = 28;  // bytes, as powers of two
constexpr std::size_t kHeadWords = sizeof(Record) / 8;

template <std::size_t kWords>
using Queue = boost::lockfree::spsc_queue<std::uint64_t, boost::lockfree::capacity<kWords>>;

// Of the record that starts with this word.
std::size_t words_of(std::uint64_t first) { return static_cast<std::uint32_t>(first) / 8; }

template <std::size_t kWords>
class SizedRing final : public Ring {
 public:
  SizedRing(void* memory, std::size_t bytes, int descriptor) : Ring(memory, bytes, descriptor) {}
  ~SizedRing() override { unmap(); }

  static constexpr std::size_t bytes() { return kHeadBytes + sizeof(Queue<kWords>); }
  void start() { new (static_cast<char*>(memory_) + kHeadBytes) Queue<kWords>; }

  bool put(const std::uint64_t* record, std::size_t words) override {
    auto& q = queue();
    if (q.write_available() < words && !make_room(words)) {
      drop(Drop::kPrincipal);
      return false;
    }
    q.push(record, words);  // becomes visible in one piece
    return true;
  }

  std::size_t take(std::vector<std::uint64_t>& out, std::size_t most_words) override {
    auto& q = queue();
    const std::size_t start = out.size();
    const std::size_t there = q.read_available();  // ends where a record ends
    const std::size_t bulk = std::min(there, std::max<std::size_t>(most_words, 1));
    pop(out, bulk);
    std::size_t end = start;
    while (end < out.size()) {
      const std::size_t words = words_of(out[end]);
      if (words < kHeadWords || words > there - (end - start)) {  // not what we wrote
        pop(out, q.read_available());
        out.resize(start);
        return 0;
      }
      end += words;
    }
    pop(out, end - out.size());
    return out.size() - start;
  }

  bool empty() override { return queue().read_available() == 0; }

 private:
  Queue<kWords>& queue() {
    return *std::launder(reinterpret_cast<Queue<kWords>*>(static_cast<char*>(memory_) + kHeadBytes));
  }

  void pop(std::vector<std::uint64_t>& out, std::size_t words) {
    if (words == 0) return;
    const std::size_t before = out.size();
    out.resize(before + words);
    out.resize(before + queue().pop(out.data() + before, words));
  }

  bool make_room(std::size_t words) {
    if (head().policy == Options::Policy::kFill) head().full.store(true, std::memory_order_release);
    if (head().policy != Options::Policy::kRing || words > kWords) return false;
    // The firing thread is the reader too, as long as it fires.
    auto& q = queue();
    while (q.write_available() < words && q.read_available() != 0) {
      std::uint64_t thrown[64];
      for (std::size_t left = std::max<std::size_t>(words_of(q.front()), 1); left != 0;) {
        const std::size_t n = q.pop(thrown, std::min<std::size_t>(left, 64));
        if (n == 0) break;
        left -= n;
      }
    }
    return q.write_available() >= words;
  }
};

}  // namespace

void Ring::unmap() {
  if (memory_ != nullptr) munmap(memory_, bytes_);
  if (descriptor_ >= 0) close(descriptor_);
}

template <std::size_t kLog2>
std::unique_ptr<Ring> Ring::sized(int descriptor, bool fresh) {
  using Sized = SizedRing<(std::size_t{1} << kLog2) / 8>;
  const std::size_t bytes = Sized::bytes();
  if (fresh && ftruncate(descriptor, static_cast<off_t>(bytes)) != 0) return nullptr;
  if (fresh) fcntl(descriptor, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL);
  struct stat status;
  if (fstat(descriptor, &status) != 0 || static_cast<std::size_t>(status.st_size) < bytes) return nullptr;
  void* memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0);
  if (memory == MAP_FAILED) return nullptr;
  auto ring = std::make_unique<Sized>(memory, bytes, descriptor);
  if (fresh) ring->start();
  return ring;
}

std::unique_ptr<Ring> Ring::of_size(unsigned log2, int descriptor, bool fresh) {
  using Make = std::unique_ptr<Ring> (*)(int, bool);
  static constexpr auto makers = []<std::size_t... kLog2>(std::index_sequence<kLog2...>) {
    return std::array<Make, sizeof...(kLog2)>{&Ring::sized<kLeast + kLog2>...};
  }
  (std::make_index_sequence<kMost - kLeast + 1>{});
  return makers[log2 - kLeast](descriptor, fresh);
}

std::unique_ptr<Ring> Ring::make(std::uint64_t bytes, std::uint32_t number, std::uint64_t tid,
                                 Options::Policy policy) {
  static_assert(sizeof(Head) <= kHeadBytes);
  const auto log2 = std::clamp<unsigned>(
      static_cast<unsigned>(std::bit_width(std::max<std::uint64_t>(bytes, 1) - 1)), kLeast, kMost);
  const int descriptor = memfd_create("vmtrace-ring", MFD_CLOEXEC | MFD_ALLOW_SEALING);
  if (descriptor < 0) return nullptr;
  auto ring = of_size(log2, descriptor, true);
  if (ring == nullptr) {
    close(descriptor);
    return nullptr;
  }
  new (ring->memory_) Head{kMagic, (std::uint64_t{1} << log2) / 8, tid, number, policy, {}, {}};
  return ring;
}

std::unique_ptr<Ring> Ring::map(int descriptor, std::string& why) {
  struct Start {
    std::uint64_t magic, capacity_words;
  } start{};
  std::unique_ptr<Ring> ring;
  if (pread(descriptor, &start, sizeof start, 0) != sizeof start || start.magic != kMagic)
    why = "this is not a ring";
  else if (const auto log2 = static_cast<unsigned>(std::bit_width(start.capacity_words * 8)) - 1;
           !std::has_single_bit(start.capacity_words) || log2 < kLeast || log2 > kMost)
    why = "the ring's size is impossible";
  else if (ring = of_size(log2, descriptor, false); ring == nullptr) why = "the ring cannot be mapped";
  if (ring == nullptr) close(descriptor);
  return ring;
}

}  // namespace vmrun::d
