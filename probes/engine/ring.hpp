// SPDX-License-Identifier: Apache-2.0
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

/// Records of one thread: a ring of words in shared memory (a sealed memfd). The firing thread
/// fills it and one consumer empties it, in the same process or in another one that was given the
/// descriptor. Neither ever waits for the other: a record that does not fit is dropped as a whole,
/// and counted.
///
/// Neither trusts the other either. Either side can write all of the memory. So a side keeps in its
/// own object what it needs to stay within bounds (capacity, policy, its own index, counts), and
/// only publishes it. From the other side it reads nothing but its index, and ignores it when it
/// cannot be true. That is why boost::lockfree::spsc_queue does not serve: it keeps both indices in
/// the shared memory alone and copies to where they say.
namespace vmrun::d {

class Ring {
 public:
  ~Ring();
  Ring(const Ring&) = delete;

  /// bytes: the room for records, rounded up to a power of two from 1 KB to 256 MB. Returns nullptr
  /// when there is no memory.
  static std::unique_ptr<Ring> make(std::uint64_t bytes, std::uint32_t number, std::uint64_t tid,
                                    Options::Policy policy);
  /// Maps the ring behind a descriptor that another process sent. It takes over the descriptor in
  /// any case.
  static std::unique_ptr<Ring> map(int descriptor, std::string& why);
  static constexpr std::uint64_t kMostBytes = 256 << 20;

  /// Returns the descriptor of the memory, for another process to map, or -1 when it has been given
  /// away.
  int descriptor() const { return descriptor_; }
  /// Returns the descriptor, which the caller has to close from now on.
  int give_descriptor() { return std::exchange(descriptor_, -1); }
  std::uint32_t number() const { return about_.number; }  // the thread's number within the session
  std::uint64_t tid() const { return about_.tid; }
  Options::Policy policy() const { return about_.policy; }
  std::uint64_t capacity_bytes() const { return about_.capacity_words * 8; }

  // The firing thread calls these.
  /// Puts a record as a whole, or counts it as a drop of kind kPrincipal. With policy ring, the
  /// oldest records give way.
  bool put(const std::uint64_t* record, std::size_t words);
  void drop(Drop kind);
  // A thread that fires calls this before its first record.
  /// Says that the session has `rings` rings now. The consumer may not know all of them yet.
  void announce(std::uint32_t rings);

  // For a thread that fills a ring with the records of another ring of the same number, elsewhere.
  /// Sets what that other ring says of itself, in place of drop. drops: the counts by kind.
  void say(bool full, const std::uint64_t (&drops)[static_cast<unsigned>(Drop::kCount)]);

  // The machine's own counts. Any thread may read them.
  bool is_full() const { return full_.load(std::memory_order_acquire); }
  std::uint64_t drops(Drop kind) const {
    return drops_[static_cast<unsigned>(kind)].load(std::memory_order_relaxed);
  }

  // The consumer calls these, with policy ring only after the firing has ended.
  /// Appends whole records, at most most_words of them (but one record at least), and returns how
  /// many words. It passes over what is not a record of a machine.
  std::size_t take(std::vector<std::uint64_t>& out, std::size_t most_words = 1 << 16);
  bool empty();
  /// Returns how many rings the session had, at least, when the records taken so far were put.
  std::uint32_t said_rings() const { return head().rings.load(std::memory_order_relaxed); }
  /// Whether a record did not fit with policy fill. No record follows then.
  bool said_full() const { return head().full.load(std::memory_order_acquire); }
  std::uint64_t said_drops(Drop kind) const {
    return head().drops[static_cast<unsigned>(kind)].load(std::memory_order_relaxed);
  }

 private:
  static constexpr unsigned kKinds = static_cast<unsigned>(Drop::kCount);

  struct About {  // written once, before any other thread sees it
    std::uint64_t magic, capacity_words, tid;
    std::uint32_t number;
    Options::Policy policy;
  };
  /// The start of the shared memory. Indices count words from the beginning.
  struct Head {
    About about;
    // The firing thread writes these. It releases `written` after the words that it counts, and the
    // consumer acquires it.
    alignas(64) std::atomic<std::uint64_t> written;
    std::atomic<bool> full;
    std::atomic<std::uint64_t> drops[kKinds];
    std::atomic<std::uint32_t> rings;  // every thread with a new ring writes it, to all rings
    // The consumer releases it when it has copied the words. With policy ring the firing thread
    // writes it: it is where the oldest record begins.
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

  // These belong to the firing thread.
  alignas(64) std::uint64_t written_ = 0;
  std::uint64_t taken_ = 0;  // the consumer's position as last looked at; never beyond written_
  std::atomic<bool> full_{false};
  std::atomic<std::uint64_t> drops_[kKinds] = {};

  // This belongs to the consumer.
  alignas(64) std::uint64_t read_ = 0;
};

}  // namespace vmrun::d
