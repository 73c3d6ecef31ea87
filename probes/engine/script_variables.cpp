// SPDX-License-Identifier: Apache-2.0
// A chain holds entries whose hashes fall together. Scalar self-> variables hash by their process
// alone, so that all of one process are in one chain and are quickly removed when it ends.
#include "probes/engine/script_variables.hpp"

#include <sys/mman.h>
#include <sys/random.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <new>

namespace vmrun::d {

namespace {

// Sizes in words: steps of four up to 256 words, then powers of two.
constexpr std::size_t kStep = 4, kSteps = 64;

std::size_t class_of(std::size_t words) {
  if (words <= kStep * kSteps) return (words + kStep - 1) / kStep - 1;
  return kSteps - 1 + static_cast<std::size_t>(std::bit_width(words - 1)) - 8;
}
std::size_t class_words(std::size_t number) {
  return number < kSteps ? (number + 1) * kStep : std::size_t{256} << (number - kSteps + 1);
}

bool is_self_scalar(const Variable& v) { return v.scope == Scope::kSelf && !v.associative; }

}  // namespace

void Globals::open(const std::vector<Variable>& variables) {
  std::size_t words = 1;
  places_.resize(variables.size());
  for (std::size_t i = 0; i < variables.size(); ++i) {
    const Variable& v = variables[i];
    if (v.scope != Scope::kGlobal || v.associative) continue;
    places_[i].offset = words * 8;
    places_[i].bytes = v.by_reference ? v.bytes : 8;
    if (v.by_reference) places_[i].lock = std::make_unique<BriefLock>();
    words += words_of(places_[i].bytes);
  }
  block_.assign(words, 0);
}

Globals::Got Globals::read(std::uint32_t variable, char* out) {
  Place& place = places_[variable];
  if (!place.lock->lock()) return Got::kBusy;
  const bool is_null = place.is_null;
  if (!is_null) std::memcpy(out, block() + place.offset, place.bytes);
  place.lock->unlock();
  return is_null ? Got::kNull : Got::kValue;
}

bool Globals::write(std::uint32_t variable, const char* from, std::size_t bytes) {
  Place& place = places_[variable];
  if (!place.lock->lock()) return false;
  place.is_null = from == nullptr;
  const std::size_t taken = from == nullptr ? 0 : std::min(bytes, place.bytes);
  char* to = block() + place.offset;
  if (taken != 0) std::memmove(to, from, taken);
  std::memset(to + taken, 0, place.bytes - taken);
  place.lock->unlock();
  return true;
}

DynamicVariables::~DynamicVariables() {
  if (words_ != nullptr) munmap(words_, bytes_);
}

bool DynamicVariables::open(const std::vector<Variable>& variables, std::size_t bytes) {
  variables_ = &variables;
  bool any = false;
  for (const Variable& v : variables) {
    value_words_.push_back(v.by_reference ? words_of(v.bytes) : 1);
    any = any || v.associative || v.scope == Scope::kSelf;
    self_scalars_ = self_scalars_ || is_self_scalar(v);
    self_arrays_ = self_arrays_ || (v.scope == Scope::kSelf && v.associative);
  }
  if (!any) return true;
  // A few variables always fit, however few bytes are asked for: the script does not know what an
  // entry needs besides its value.
  bytes = std::max<std::size_t>(bytes, 32 * kEntryWords * 8);
  const std::size_t chains = std::bit_floor(std::max<std::size_t>(bytes / 64, kFewestChains));
  bytes_ = bytes + chains * 4;
  void* memory =
      mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) return false;
  words_ = static_cast<std::uint64_t*>(memory);
  mask_ = static_cast<std::uint32_t>(chains - 1);
  most_ = bytes_ / 8;
  used_ = chains / 2;
  if (getrandom(&seed_, sizeof seed_, GRND_NONBLOCK) != sizeof seed_) seed_ = 0x9e3779b97f4a7c15ull;
  return true;
}

std::uint32_t DynamicVariables::hash_of(std::uint32_t variable, const std::uint64_t* key,
                                        std::size_t words) const {
  std::uint64_t h = seed_;
  if (!is_self_scalar((*variables_)[variable])) h += (variable + 1) * 0x9e3779b97f4a7c15ull;
  for (std::size_t i = 0; i < words; ++i) {
    h = (h ^ key[i]) * 0xff51afd7ed558ccdull;
    h ^= h >> 32;
  }
  return static_cast<std::uint32_t>((h * 0x9e3779b97f4a7c15ull) >> 32);
}

// Returns the place that refers to the entry.
std::uint32_t* DynamicVariables::find(LockedChain& chain, std::uint32_t hash, std::uint32_t variable,
                                      const std::uint64_t* key, std::size_t words) const {
  for (std::uint32_t* at = &chain.first; *at != 0; at = &entry(*at)->next) {
    const Entry& e = *entry(*at);
    if (e.hash == hash && e.variable == variable && e.key_words == words &&
        std::memcmp(&e + 1, key, words * 8) == 0)
      return at;
  }
  return nullptr;
}

DynamicVariables::Got DynamicVariables::get(std::uint32_t variable, const std::uint64_t* key,
                                            std::size_t words, void* out) {
  const auto hash = hash_of(variable, key, words);
  LockedChain chain(head(hash));
  if (!chain) return Got::kBusy;
  const std::uint32_t* at = find(chain, hash, variable, key, words);
  if (at == nullptr) return Got::kNone;
  std::memcpy(out, words_ + *at + kEntryWords + words, value_words_[variable] * 8);
  return Got::kValue;
}

bool DynamicVariables::put(std::uint32_t variable, const std::uint64_t* key, std::size_t words,
                           const void* value, std::size_t bytes) {
  const auto hash = hash_of(variable, key, words);
  LockedChain chain(head(hash));
  if (!chain) return false;
  std::uint32_t* found = find(chain, hash, variable, key, words);
  const std::uint32_t at = found != nullptr ? *found : allocate(entry_words(variable, words));
  if (at == 0) return false;
  char* place = reinterpret_cast<char*>(words_ + at + kEntryWords + words);
  const std::size_t room = value_words_[variable] * 8, taken = std::min(bytes, room);
  std::memcpy(place, value, taken);
  std::memset(place + taken, 0, room - taken);
  if (found != nullptr) return true;
  *entry(at) = {chain.first, hash, variable, static_cast<std::uint32_t>(words)};
  std::memcpy(words_ + at + kEntryWords, key, words * 8);
  chain.first = at;
  return true;
}

void DynamicVariables::erase(std::uint32_t variable, const std::uint64_t* key, std::size_t words) {
  const auto hash = hash_of(variable, key, words);
  LockedChain chain(head(hash));
  if (!chain) return;
  std::uint32_t* at = find(chain, hash, variable, key, words);
  if (at == nullptr) return;
  const std::uint32_t gone = *at;
  *at = entry(gone)->next;
  give_back(gone, entry_words(variable, words));
}

template <class Which>
void DynamicVariables::erase_all(std::uint32_t hash, Which&& which) {
  LockedChain chain(head(hash));
  if (!chain) return;
  for (std::uint32_t* at = &chain.first; *at != 0;) {
    const std::uint32_t here = *at;
    const Entry& e = *entry(here);
    if (!which(e, words_ + here + kEntryWords)) {
      at = &entry(here)->next;
      continue;
    }
    *at = e.next;
    give_back(here, entry_words(e.variable, e.key_words));
  }
}

void DynamicVariables::forget_self(std::uint64_t self) {
  if (self_arrays_ && forgotten_lock_.lock()) {
    if (forgotten_count_ < kForgotten) forgotten_[forgotten_count_++] = self;
    forgotten_lock_.unlock();
  }
  if (!self_scalars_) return;
  std::uint32_t some = 0;
  while (!is_self_scalar((*variables_)[some])) ++some;
  erase_all(hash_of(some, &self, 1), [&](const Entry& e, const std::uint64_t* key) {
    return is_self_scalar((*variables_)[e.variable]) && key[0] == self;
  });
}

void DynamicVariables::sweep() {
  if (!self_arrays_) return;
  std::vector<std::uint64_t> gone;
  if (!forgotten_lock_.lock()) return;
  gone.assign(forgotten_, forgotten_ + forgotten_count_);
  forgotten_count_ = 0;
  forgotten_lock_.unlock();
  if (gone.empty()) return;
  std::sort(gone.begin(), gone.end());
  for (std::uint32_t number = 0; number <= mask_; ++number)
    erase_all(number, [&](const Entry& e, const std::uint64_t* key) {
      return (*variables_)[e.variable].scope == Scope::kSelf &&
             std::binary_search(gone.begin(), gone.end(), key[0]);
    });
}

// Returns 0 when there is no room. Freed entries of a class are chained by their first word.
std::uint32_t DynamicVariables::allocate(std::size_t words) {
  const std::size_t number = class_of(words), taken = class_words(number);
  if (number >= kClasses) return 0;
  FreeList& list = free_[number];
  if (list.lock.lock()) {
    const std::uint32_t first = list.first;
    if (first != 0) list.first = entry(first)->next;
    list.lock.unlock();
    if (first != 0) return first;
  }
  for (std::size_t at = used_.load(std::memory_order_relaxed); at + taken <= most_;)
    if (used_.compare_exchange_weak(at, at + taken, std::memory_order_relaxed))
      return static_cast<std::uint32_t>(at);
  return 0;
}

void DynamicVariables::give_back(std::uint32_t at, std::size_t words) {
  FreeList& list = free_[class_of(words)];
  if (!list.lock.lock()) return;  // the entry is lost; the total stays bounded
  entry(at)->next = list.first;
  list.first = at;
  list.lock.unlock();
}

}  // namespace vmrun::d
