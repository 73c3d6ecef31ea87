// SPDX-License-Identifier: Apache-2.0
#include "vm/process/aliases.hpp"

#include <atomic>
#include <mutex>
#include <unordered_map>

namespace vmrun {
namespace {

struct HashKey {
  std::size_t operator()(const RefKey& key) const { return hash_key(key); }
};

/// The owners of aliases that were written without them and have not ended. An alias that ends
/// while another process writes it may stay here. That is harmless: its owner drops messages to it.
struct Written {
  std::mutex mutex;
  std::unordered_map<RefKey, Term, HashKey> owners;
  std::atomic<std::size_t> count{0};  // of owners: mostly 0, and the mutex is not needed
};
Written& written() {
  static auto& one = *new Written;
  return one;
}

RefKey key_of_numbers(const std::uint32_t* numbers) {
  return {Word{numbers[1]} << 32 | numbers[0], numbers[2]};
}

}  // namespace

void note_alias_written(const std::uint32_t* numbers, Term owner) {
  std::lock_guard lock(written().mutex);
  written().owners.insert_or_assign(key_of_numbers(numbers), owner);
  written().count.store(written().owners.size(), std::memory_order_relaxed);
}

Term owner_of_written_alias(const std::uint32_t* numbers) {
  // The reader got the bytes from the writer, so it sees the count that the writer has stored.
  if (written().count.load(std::memory_order_relaxed) == 0) return kNonValue;
  std::lock_guard lock(written().mutex);
  const auto found = written().owners.find(key_of_numbers(numbers));
  return found == written().owners.end() ? kNonValue : found->second;
}

namespace {

void forget_written(RefKey key) {
  if (written().count.load(std::memory_order_relaxed) == 0) return;
  std::lock_guard lock(written().mutex);
  written().owners.erase(key);
  written().count.store(written().owners.size(), std::memory_order_relaxed);
}

}  // namespace

bool Aliases::erase(RefKey key) {
  if (!modes_.erase(key)) return false;
  forget_written(key);
  return true;
}

Aliases::~Aliases() {
  modes_.for_each([](RefKey key, AliasMode) { forget_written(key); });
}

}  // namespace vmrun
