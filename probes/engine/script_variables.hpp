// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "probes/engine/brief_lock.hpp"
#include "probes/engine/program.hpp"

/// Variables that outlive a firing. Each session has one set, which every thread that fires uses.
namespace vmrun::d {

constexpr std::size_t words_of(std::size_t bytes) { return (bytes + 7) / 8; }

/// Global variables that are not arrays: a block of memory, which scripts may also address
/// (Segment::kGlobals). Integers are read and written in one piece; each text or structure has a
/// lock.
class Globals {
 public:
  void open(const std::vector<Variable>& variables);

  std::uint64_t integer(std::uint32_t variable) const {
    return word(variable).load(std::memory_order_relaxed);
  }
  void set_integer(std::uint32_t variable, std::uint64_t value) {
    word(variable).store(value, std::memory_order_relaxed);
  }
  enum class Got { kValue, kNull, kBusy };
  /// out: has room for the variable's bytes.
  Got read(std::uint32_t variable, char* out);
  /// from: its bytes are stored, and the rest becomes 0; nullptr makes the variable NULL. Returns
  /// false when the variable is busy.
  bool write(std::uint32_t variable, const char* from, std::size_t bytes);

  std::size_t offset(std::uint32_t variable) const { return places_[variable].offset; }
  char* block() { return reinterpret_cast<char*>(block_.data()); }
  std::size_t block_bytes() const { return block_.size() * 8; }

 private:
  struct Place {
    std::size_t offset = 0, bytes = 0;
    std::unique_ptr<BriefLock> lock;  // only for variables by reference
    bool is_null = false;             // a text that was never stored is empty, not NULL
  };
  std::atomic<std::uint64_t>& word(std::uint32_t variable) const {
    return reinterpret_cast<std::atomic<std::uint64_t>&>(
        const_cast<std::uint64_t&>(block_[places_[variable].offset / 8]));
  }
  std::vector<std::uint64_t> block_;
  std::vector<Place> places_;
};

/// self-> variables and elements of associative arrays: a hash table in dynvarsize bytes. Each
/// chain has a lock. The room of freed values serves others of about the same size.
class DynamicVariables {
 public:
  static constexpr std::size_t kMostKeyWords = 16384;

  ~DynamicVariables();
  /// Returns false when there is no memory.
  bool open(const std::vector<Variable>& variables, std::size_t bytes);

  enum class Got { kValue, kNone, kBusy };
  /// key: for self-> variables it begins with the number of the process or thread.
  Got get(std::uint32_t variable, const std::uint64_t* key, std::size_t words, void* out);
  /// value: its bytes are stored, and the rest becomes 0. Returns false when there is no room or
  /// the chain is busy.
  bool put(std::uint32_t variable, const std::uint64_t* key, std::size_t words, const void* value,
           std::size_t bytes);
  void erase(std::uint32_t variable, const std::uint64_t* key, std::size_t words);
  /// Removes the self-> variables of one process or thread. Elements of arrays go when sweep is
  /// called next. Any thread may call it.
  void forget_self(std::uint64_t self);
  /// The controlling thread calls it.
  void sweep();

 private:
  struct Entry {
    std::uint32_t next;  // in units of 8 bytes; 0: none
    std::uint32_t hash;
    std::uint32_t variable;
    std::uint32_t key_words;
    // The key follows, then the value.
  };
  static constexpr std::size_t kEntryWords = sizeof(Entry) / 8, kFewestChains = 256, kClasses = 128;
  static constexpr std::size_t kForgotten = 1024;
  struct FreeList {
    BriefLock lock;
    std::uint32_t first = 0;
  };

  Entry* entry(std::uint32_t at) const { return reinterpret_cast<Entry*>(words_ + at); }
  std::uint32_t hash_of(std::uint32_t variable, const std::uint64_t* key, std::size_t words) const;
  std::atomic<std::uint32_t>& head(std::uint32_t hash) const {
    return reinterpret_cast<std::atomic<std::uint32_t>*>(words_)[hash & mask_];
  }
  std::uint32_t* find(LockedChain& chain, std::uint32_t hash, std::uint32_t variable,
                      const std::uint64_t* key, std::size_t words) const;
  std::size_t entry_words(std::uint32_t variable, std::size_t key_words) const {
    return kEntryWords + key_words + value_words_[variable];
  }
  std::uint32_t allocate(std::size_t words);
  void give_back(std::uint32_t at, std::size_t words);
  template <class Which>
  void erase_all(std::uint32_t hash, Which&& which);

  const std::vector<Variable>* variables_ = nullptr;
  std::vector<std::size_t> value_words_;
  bool self_scalars_ = false, self_arrays_ = false;
  std::uint64_t* words_ = nullptr;  // the chains' heads (32 bits each), then the entries
  std::size_t bytes_ = 0, most_ = 0;
  std::atomic<std::size_t> used_{0};
  std::uint32_t mask_ = 0;
  std::uint64_t seed_ = 0;
  FreeList free_[kClasses];
  BriefLock forgotten_lock_;
  std::size_t forgotten_count_ = 0;
  std::uint64_t forgotten_[kForgotten];
};

}  // namespace vmrun::d
