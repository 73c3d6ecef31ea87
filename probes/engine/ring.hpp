#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "probes/engine/program.hpp"
#include "probes/engine/record.hpp"

/// Records of one thread: a ring of words in shared memory (a sealed memfd), which the firing
/// thread fills and one reader empties, in the same process or in another that was given the
/// descriptor. Neither ever waits for the other: what does not fit is dropped as a whole, and
/// counted.
///
/// Neither trusts the other either. Either side can write all of the memory, so what a side needs
/// to stay within bounds it keeps in its own object (capacity, policy, its own index, counts) and
/// only publishes; of the other side it reads nothing but its index, which counts as nonsense when
/// it cannot be true. That is why this is no boost::lockfree::spsc_queue: that one keeps both
/// indices in the shared memory alone and copies to where they say.
namespace vmrun::d {

class Ring {
 public:
  ~Ring();
  Ring(const Ring&) = delete;

  /// bytes: of records; the next power of two of 1 KB to 256 MB. nullptr: no memory.
  static std::unique_ptr<Ring> make(std::uint64_t bytes, std::uint32_t number, std::uint64_t tid,
                                    Options::Policy policy);
  /// The ring behind a descriptor that another process sent. Takes the descriptor in any case.
  static std::unique_ptr<Ring> map(int descriptor, std::string& why);
  static constexpr std::uint64_t kMostBytes = 256 << 20;

  /// Of the memory, for another process to map; -1 when it has been given away.
  int descriptor() const { return descriptor_; }
  /// The same, which is the caller's to close from now on.
  int give_descriptor() { return std::exchange(descriptor_, -1); }
  std::uint32_t number() const { return about_.number; }  // of the thread within the session
  std::uint64_t tid() const { return about_.tid; }
  Options::Policy policy() const { return about_.policy; }
  std::uint64_t capacity_bytes() const { return about_.capacity_words * 8; }

  // The firing thread.
  /// Whole or not at all, then counted as kPrincipal. Policy ring: what is oldest gives way.
  bool put(const std::uint64_t* record, std::size_t words);
  void drop(Drop kind);
  // Any thread that fires, before its first record.
  /// The session has so many rings now. Who reads may not have been told of all of them yet.
  void announce(std::uint32_t rings);

  // Who fills a ring with what another of the same number holds elsewhere, instead of drop.
  /// What that one says of itself. drops: by kind.
  void say(bool full, const std::uint64_t (&drops)[static_cast<unsigned>(Drop::kCount)]);

  // The machine: what it has counted itself, from any thread.
  bool is_full() const { return full_.load(std::memory_order_acquire); }
  std::uint64_t drops(Drop kind) const {
    return drops_[static_cast<unsigned>(kind)].load(std::memory_order_relaxed);
  }

  // The reader. With policy ring only after the firing has ended.
  /// Appends whole records, at most most_words of them (but one record at least); how many words.
  /// What is not what a machine writes is passed over.
  std::size_t take(std::vector<std::uint64_t>& out, std::size_t most_words = 1 << 16);
  bool empty();
  /// How many rings the session had, at least, when what was taken was put.
  std::uint32_t said_rings() const { return head().rings.load(std::memory_order_relaxed); }
  /// A record did not fit, and the policy is fill: none comes any more.
  bool said_full() const { return head().full.load(std::memory_order_acquire); }
  std::uint64_t said_drops(Drop kind) const {
    return head().drops[static_cast<unsigned>(kind)].load(std::memory_order_relaxed);
  }

 private:
  static constexpr unsigned kKinds = static_cast<unsigned>(Drop::kCount);

  struct About {  // written once, before anybody else sees it
    std::uint64_t magic, capacity_words, tid;
    std::uint32_t number;
    Options::Policy policy;
  };
  /// The start of the shared memory. Indices count words since the beginning.
  struct Head {
    About about;
    // The firing thread writes. written is released after the words that it counts; who reads
    // acquires it.
    alignas(64) std::atomic<std::uint64_t> written;
    std::atomic<bool> full;
    std::atomic<std::uint64_t> drops[kKinds];
    std::atomic<std::uint32_t> rings;  // every thread with a new ring writes it, to all
    // The reader releases it when it has copied the words; with policy ring it is the firing
    // thread's: the oldest record that there is.
    alignas(64) std::atomic<std::uint64_t> taken;
  };

  Ring(void* memory, std::size_t bytes, int descriptor, const About& about);
  static std::unique_ptr<Ring> mapped(int descriptor, const About& about);
  Head& head() const { return *static_cast<Head*>(memory_); }
  bool make_room(std::size_t words);
  bool discard_oldest(std::size_t words);
  std::size_t available();
  void copy_in(const std::uint64_t* from, std::size_t words);
  void copy_out(std::uint64_t* to, std::uint64_t from, std::size_t words) const;

  void* memory_;
  std::size_t bytes_;
  int descriptor_;
  About about_;
  std::uint64_t* words_;
  std::uint64_t mask_;

  // The firing thread's.
  alignas(64) std::uint64_t written_ = 0;
  std::uint64_t taken_ = 0;  // as far as it has looked; never beyond written_
  std::atomic<bool> full_{false};
  std::atomic<std::uint64_t> drops_[kKinds] = {};

  // The reader's.
  alignas(64) std::uint64_t read_ = 0;
};

}  // namespace vmrun::d
