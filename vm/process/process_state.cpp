// SPDX-License-Identifier: Apache-2.0
#include "vm/process/process_state.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#include "vm/process/trace_state.hpp"
#include "vm/term/compare.hpp"
#include "vm/term/hash.hpp"

namespace vmrun {

// ---- Dictionary ---------------------------------------------------------------------------------

namespace {

std::uint32_t key_hash(Term key) { return static_cast<std::uint32_t>(hash_term(key) >> 32); }

template <class T>
void resize_array(T*& array, std::size_t used, std::size_t capacity) {
  T* bigger = new T[capacity];
  if (used) std::memcpy(static_cast<void*>(bigger), array, used * sizeof(T));
  delete[] array;
  array = bigger;
}

}  // namespace

Dictionary::~Dictionary() { clear(); }

void Dictionary::clear() {
  delete[] pairs_;
  delete[] hashes_;
  delete[] index_;
  pairs_ = nullptr;
  hashes_ = index_ = nullptr;
  size_ = capacity_ = index_size_ = 0;
}

std::int64_t Dictionary::find(Term key, std::uint32_t hash) const {
  if (!index_) {
    for (std::uint32_t i = 0; i < size_; ++i)
      if (hashes_[i] == hash && equal_exact(pairs_[2 * i], key)) return i;
    return -1;
  }
  const std::uint32_t mask = index_size_ - 1;
  for (std::uint32_t slot = hash & mask; index_[slot]; slot = (slot + 1) & mask) {
    const std::uint32_t i = index_[slot] - 1;
    if (hashes_[i] == hash && equal_exact(pairs_[2 * i], key)) return i;
  }
  return -1;
}

void Dictionary::index_insert(std::uint32_t hash, std::uint32_t position) {
  const std::uint32_t mask = index_size_ - 1;
  std::uint32_t slot = hash & mask;
  while (index_[slot]) slot = (slot + 1) & mask;
  index_[slot] = position + 1;
}

void Dictionary::index_erase(std::uint32_t hash, std::uint32_t position) {
  const std::uint32_t mask = index_size_ - 1;
  std::uint32_t hole = hash & mask;
  while (index_[hole] != position + 1) hole = (hole + 1) & mask;
  for (std::uint32_t i = (hole + 1) & mask; index_[i]; i = (i + 1) & mask) {
    const std::uint32_t home = hashes_[index_[i] - 1] & mask;
    if (((i - home) & mask) >= ((i - hole) & mask)) {
      index_[hole] = index_[i];
      hole = i;
    }
  }
  index_[hole] = 0;
}

void Dictionary::rebuild_index() {
  index_size_ = 2 * capacity_;
  delete[] index_;
  index_ = new std::uint32_t[index_size_]();
  for (std::uint32_t i = 0; i < size_; ++i) index_insert(hashes_[i], i);
}

Term Dictionary::get(Term key) const {
  if (size_ == 0) return atoms::undefined;
  const std::int64_t i = find(key, key_hash(key));
  return i < 0 ? atoms::undefined : pairs_[2 * i + 1];
}

Term Dictionary::put(Term key, Term value) {
  const std::uint32_t hash = key_hash(key);
  const std::int64_t found = find(key, hash);
  if (found >= 0) {
    const Term old = pairs_[2 * found + 1];
    pairs_[2 * found + 1] = value;
    return old;
  }
  if (size_ == capacity_) {
    capacity_ = capacity_ ? 2 * capacity_ : 4;
    resize_array(pairs_, 2 * size_, 2 * capacity_);
    resize_array(hashes_, size_, capacity_);
    if (capacity_ > kLinear) rebuild_index();
  }
  pairs_[2 * size_] = key;
  pairs_[2 * size_ + 1] = value;
  hashes_[size_] = hash;
  if (index_) index_insert(hash, size_);
  ++size_;
  return atoms::undefined;
}

Term Dictionary::erase(Term key) {
  const std::uint32_t hash = key_hash(key);
  const std::int64_t found = find(key, hash);
  if (found < 0) return atoms::undefined;
  const auto i = static_cast<std::uint32_t>(found);
  const Term old = pairs_[2 * i + 1];
  const std::uint32_t last = size_ - 1;
  if (index_) {
    index_erase(hash, i);
    if (i != last) index_erase(hashes_[last], last);
  }
  pairs_[2 * i] = pairs_[2 * last];
  pairs_[2 * i + 1] = pairs_[2 * last + 1];
  hashes_[i] = hashes_[last];
  size_ = last;
  if (index_ && i != last) index_insert(hashes_[i], i);
  return old;
}

// ---- Extra --------------------------------------------------------------------------------------

void defer_until_collected(Extra& extra) {
  const auto before = static_cast<std::ptrdiff_t>(extra.deferred.size());
  for (Fragment* f = std::exchange(extra.until_collected, nullptr); f; f = f->next)
    extra.deferred.push_back(f);
  std::reverse(extra.deferred.begin() + before, extra.deferred.end());
}

Extra::~Extra() {
  monitors.for_each([](const RefKey&, const MonitorOut& m) { m.release(); });
  spawn_requests.for_each([](const RefKey&, const SpawnRequested& r) {
    r.drop_tag();
    r.drop_monitor_tag();
  });
  if (trace_state) [[unlikely]]
    delete trace_state;
  if (reply) Fragment::destroy(reply);
  for (Fragment* f : deferred) Fragment::destroy(f);
}

}  // namespace vmrun
