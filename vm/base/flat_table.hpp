#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <new>
#include <utility>

/// A small hash table for links, monitors and aliases: open addressing with linear probing,
/// deletion by shifting back, nothing allocated while empty. Owned by one process. Key needs `==`,
/// a default value that is never a real key, and `std::size_t hash_key(Key)`. Values are trivially
/// copyable. Insertion and removal invalidate pointers and positions.
namespace vmrun {

template <class Key, class Value>
class FlatTable {
 public:
  struct Entry {
    Key key{};
    Value value{};
  };

  FlatTable() = default;
  FlatTable(const FlatTable&) = delete;
  ~FlatTable() { delete[] entries_; }

  std::size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }

  Value* find(const Key& key) {
    if (size_ == 0) return nullptr;
    const std::size_t i = position(key);
    return entries_[i].key == key ? &entries_[i].value : nullptr;
  }

  /// False (and nothing changed) when the key is there already.
  bool insert(const Key& key, const Value& value) {
    if (2 * (size_ + 1) > capacity_) grow();
    const std::size_t i = position(key);
    if (entries_[i].key == key) return false;
    entries_[i] = {key, value};
    ++size_;
    return true;
  }

  bool erase(const Key& key) {
    if (size_ == 0) return false;
    std::size_t hole = position(key);
    if (!(entries_[hole].key == key)) return false;
    const std::size_t mask = capacity_ - 1;
    for (std::size_t i = (hole + 1) & mask; !(entries_[i].key == Key{}); i = (i + 1) & mask) {
      const std::size_t home = hash_key(entries_[i].key) & mask;
      if (((i - home) & mask) >= ((i - hole) & mask)) {
        entries_[hole] = entries_[i];
        hole = i;
      }
    }
    entries_[hole] = {};
    --size_;
    return true;
  }

  void clear() {
    delete[] entries_;
    entries_ = nullptr;
    size_ = capacity_ = 0;
  }

  template <class F>
  void for_each(F&& visit) {
    for (std::size_t i = 0; i < capacity_; ++i)
      if (!(entries_[i].key == Key{})) visit(entries_[i].key, entries_[i].value);
  }

  std::size_t memory_bytes() const { return capacity_ * sizeof(Entry); }

 private:
  std::size_t position(const Key& key) const {
    const std::size_t mask = capacity_ - 1;
    std::size_t i = hash_key(key) & mask;
    while (!(entries_[i].key == Key{}) && !(entries_[i].key == key)) i = (i + 1) & mask;
    return i;
  }

  void grow() {
    Entry* old = entries_;
    const std::size_t old_capacity = capacity_;
    capacity_ = capacity_ ? 2 * capacity_ : 4;
    entries_ = new Entry[capacity_];
    for (std::size_t i = 0; i < old_capacity; ++i)
      if (!(old[i].key == Key{})) entries_[position(old[i].key)] = old[i];
    delete[] old;
  }

  Entry* entries_ = nullptr;
  std::uint32_t size_ = 0, capacity_ = 0;
};

}  // namespace vmrun
