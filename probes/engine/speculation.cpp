// SPDX-License-Identifier: Apache-2.0
#include "probes/engine/speculation.hpp"

#include <sys/mman.h>

#include <cstring>

#include "probes/engine/ring.hpp"

namespace vmrun::d {

Speculations::~Speculations() {
  if (words_ != nullptr) munmap(words_, count_ * room_ * 8);
}

bool Speculations::open(std::uint32_t count, std::size_t bytes) {
  count_ = count;
  room_ = (bytes + 7) / 8;
  void* memory = mmap(nullptr, count_ * room_ * 8, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) return false;
  words_ = static_cast<std::uint64_t*>(memory);
  all_ = std::make_unique<One[]>(count_);
  return true;
}

std::uint64_t Speculations::start() {
  for (std::size_t i = 0; i < count_; ++i)
    // The exchange acquires the empty buffer that its last user left.
    if (!all_[i].active.load(std::memory_order_relaxed) &&
        !all_[i].active.exchange(true, std::memory_order_acquire))
      return i + 1;
  return 0;
}

Speculations::Result Speculations::add(std::uint64_t number, const std::uint64_t* record, std::size_t words) {
  if (!valid(number)) return Result::kNone;
  One& one = all_[number - 1];
  if (!one.lock.lock()) return Result::kBusy;
  auto result = Result::kNone;
  if (one.active.load(std::memory_order_relaxed)) {
    result = words <= room_ - one.used ? Result::kDone : Result::kFull;
    if (result == Result::kDone) {
      std::memcpy(buffer(number) + one.used, record, words * 8);
      one.used += words;
    }
  }
  one.lock.unlock();
  return result;
}

Speculations::Result Speculations::commit(std::uint64_t number, Ring& ring) {
  if (!valid(number)) return Result::kNone;
  One& one = all_[number - 1];
  if (!one.lock.lock()) return Result::kBusy;
  auto result = Result::kNone;
  if (one.active.load(std::memory_order_relaxed)) {
    if (one.used != 0) ring.put(buffer(number), one.used);
    one.used = 0;
    one.active.store(false, std::memory_order_release);
    result = Result::kDone;
  }
  one.lock.unlock();
  return result;
}

Speculations::Result Speculations::discard(std::uint64_t number) {
  if (!valid(number)) return Result::kNone;
  One& one = all_[number - 1];
  if (!one.lock.lock()) return Result::kBusy;
  const bool active = one.active.load(std::memory_order_relaxed);
  one.used = 0;
  one.active.store(false, std::memory_order_release);
  one.lock.unlock();
  return active ? Result::kDone : Result::kNone;
}

}  // namespace vmrun::d
