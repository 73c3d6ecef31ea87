#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "probes/engine/program.hpp"
#include "probes/engine/record.hpp"

/// Records of one thread: a ring in shared memory (a sealed memfd), which the firing thread fills
/// and one reader empties, in the same process or in another that was given the descriptor. Neither
/// ever waits for the other: what does not fit is dropped, as a whole, and counted in the head.
namespace vmrun::d {

class Ring {
 public:
  virtual ~Ring() = default;
  Ring(const Ring&) = delete;

  /// bytes: of records; the next power of two of 1 KB to 256 MB. nullptr: no memory.
  static std::unique_ptr<Ring> make(std::uint64_t bytes, std::uint32_t number, std::uint64_t tid,
                                    Options::Policy policy);
  /// The ring behind a descriptor that another process sent. Takes the descriptor in any case.
  static std::unique_ptr<Ring> map(int descriptor, std::string& why);
  static constexpr std::uint64_t kMostBytes = 256 << 20;

  int descriptor() const { return descriptor_; }
  std::uint32_t number() const { return head().number; }  // of the thread within the session
  std::uint64_t tid() const { return head().tid; }
  Options::Policy policy() const { return head().policy; }
  std::uint64_t capacity_bytes() const { return head().capacity_words * 8; }

  // The firing thread.
  /// Whole or not at all, then counted as kPrincipal. Policy ring: what is oldest gives way.
  virtual bool put(const std::uint64_t* record, std::size_t words) = 0;
  void drop(Drop kind) {
    auto& n = head().drops[static_cast<unsigned>(kind)];
    n.store(n.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);  // the only writer
  }

  // The reader. With policy ring only after the firing has ended.
  /// Appends whole records, at most about most_words (but one at least); how many words.
  virtual std::size_t take(std::vector<std::uint64_t>& out, std::size_t most_words = 1 << 16) = 0;
  virtual bool empty() = 0;
  /// A record did not fit, and the policy is fill: none comes any more.
  bool is_full() const { return head().full.load(std::memory_order_acquire); }
  std::uint64_t drops(Drop kind) const {
    return head().drops[static_cast<unsigned>(kind)].load(std::memory_order_relaxed);
  }

 protected:
  struct Head {
    std::uint64_t magic;
    std::uint64_t capacity_words;
    std::uint64_t tid;
    std::uint32_t number;
    Options::Policy policy;
    std::atomic<bool> full;  // paired: the producer releases, the reader acquires
    std::atomic<std::uint64_t> drops[static_cast<unsigned>(Drop::kCount)];
  };
  Ring(void* memory, std::size_t bytes, int descriptor)
      : memory_(memory), bytes_(bytes), descriptor_(descriptor) {}
  Head& head() const { return *static_cast<Head*>(memory_); }
  void unmap();

  void* memory_;
  std::size_t bytes_;
  int descriptor_;

 private:
  template <std::size_t kLog2>
  static std::unique_ptr<Ring> sized(int descriptor, bool fresh);
  static std::unique_ptr<Ring> of_size(unsigned log2, int descriptor, bool fresh);
};

}  // namespace vmrun::d
