// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "vm/base/small_limits.hpp"

/// A small hash table that keeps the order of insertion, for links, monitors and aliases: signals
/// to many receivers leave in the order in which these asked. Entries lie densely, oldest first,
/// with holes where some were erased. Once there are more than a few, an index beside them finds a
/// key (open addressing with linear probing, deletion by shifting back). Every operation takes
/// constant time, amortised. An empty table allocates nothing. The table is owned by one process.
/// Key needs `==`, a default value that is never a real key, and `std::size_t hash_key(Key)`. Keys
/// and values are trivially copyable. Insertion and removal invalidate pointers.
namespace vmrun {

template <class Key, class Value>
class FlatTable {
 public:
  struct Entry {
    Key key{};
    [[no_unique_address]] Value value{};
  };
  static_assert(std::is_trivially_copyable_v<Entry>);

  FlatTable() = default;
  FlatTable(const FlatTable&) = delete;
  ~FlatTable() { clear(); }

  std::size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }

  Value* find(const Key& key) {
    const std::uint32_t i = locate(key);
    return i == kNone ? nullptr : &entries_[i].value;
  }

  /// Returns false, and changes nothing, when the key is there already.
  bool insert(const Key& key, const Value& value) {
    if (locate(key) != kNone) return false;
    if (end_ == capacity_) make_room();
    entries_[end_] = {key, value};
    if (index_) index_[index_slot(key)] = end_ + 1;
    ++end_;
    ++size_;
    return true;
  }

  bool erase(const Key& key) {
    const std::uint32_t i = locate(key);
    if (i == kNone) return false;
    erase_at(i);
    return true;
  }

  /// Takes the entry out. Returns false when the key is not there.
  bool take(const Key& key, Entry* out) {
    const std::uint32_t i = locate(key);
    if (i == kNone) return false;
    *out = entries_[i];
    erase_at(i);
    return true;
  }

  /// Takes the oldest entry out. Returns false when the table is empty.
  bool take_oldest(Entry* out) {
    if (size_ == 0) return false;
    *out = entries_[first_];
    erase_at(first_);
    return true;
  }

  void clear() {
    delete[] entries_;
    delete[] index_;
    entries_ = nullptr;
    index_ = nullptr;
    first_ = end_ = size_ = capacity_ = 0;
  }

  /// Visits the entries, oldest first. visit may change values but nothing else in the table.
  template <class F>
  void for_each(F&& visit) const {
    for (std::uint32_t i = first_; i < end_; ++i)
      if (!(entries_[i].key == Key{})) visit(entries_[i].key, entries_[i].value);
  }

  std::size_t memory_bytes() const {
    return capacity_ * sizeof(Entry) + (index_ ? index_size() * sizeof *index_ : 0);
  }

 private:
  static constexpr std::uint32_t kNone = ~std::uint32_t{0};
  static constexpr std::uint32_t kLinear = usual_or_small<std::uint32_t>(8, 2);  // no index up to here
  static constexpr std::uint32_t kKept =
      usual_or_small<std::uint32_t>(64, 2);  // room that stays when the last entry is erased

  std::size_t index_size() const { return 2 * std::size_t{capacity_}; }

  /// Returns where in the index the key is, or where it belongs.
  std::size_t index_slot(const Key& key) const {
    const std::size_t mask = index_size() - 1;
    std::size_t slot = hash_key(key) & mask;
    while (index_[slot] && !(entries_[index_[slot] - 1].key == key)) slot = (slot + 1) & mask;
    return slot;
  }

  std::uint32_t locate(const Key& key) const {
    if (index_) return index_[index_slot(key)] - 1;
    for (std::uint32_t i = first_; i < end_; ++i)
      if (entries_[i].key == key) return i;
    return kNone;
  }

  void index_erase(std::size_t hole) {
    const std::size_t mask = index_size() - 1;
    for (std::size_t i = (hole + 1) & mask; index_[i]; i = (i + 1) & mask) {
      const std::size_t home = hash_key(entries_[index_[i] - 1].key) & mask;
      if (((i - home) & mask) >= ((i - hole) & mask)) {
        index_[hole] = index_[i];
        hole = i;
      }
    }
    index_[hole] = 0;
  }

  void erase_at(std::uint32_t i) {
    if (--size_ == 0 && capacity_ > kKept) return clear();
    if (index_) index_erase(index_slot(entries_[i].key));
    entries_[i] = {};
    while (first_ < end_ && entries_[first_].key == Key{}) ++first_;
    while (end_ > first_ && entries_[end_ - 1].key == Key{}) --end_;
    if (first_ == end_) first_ = end_ = 0;
  }

  /// Closes the holes, and doubles the room unless there are many holes.
  void make_room() {
    const Entry* old = entries_;
    const std::uint32_t old_end = end_;
    if (!entries_) capacity_ = 2;
    else if (size_ >= capacity_ - capacity_ / 4) capacity_ *= 2;
    entries_ = new Entry[capacity_];
    end_ = 0;
    for (std::uint32_t i = first_; i < old_end; ++i)
      if (!(old[i].key == Key{})) entries_[end_++] = old[i];
    first_ = 0;
    delete[] old;
    delete[] index_;
    index_ = nullptr;
    if (capacity_ <= kLinear) return;
    index_ = new std::uint32_t[index_size()]();
    for (std::uint32_t i = 0; i < end_; ++i) index_[index_slot(entries_[i].key)] = i + 1;
  }

  Entry* entries_ = nullptr;
  std::uint32_t* index_ = nullptr;  // positions + 1
  std::uint32_t first_ = 0, end_ = 0, size_ = 0, capacity_ = 0;
};

}  // namespace vmrun
