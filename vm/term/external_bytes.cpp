// SPDX-License-Identifier: Apache-2.0
#include "vm/term/external_bytes.hpp"

#include <algorithm>

#include "vm/base/allocate.hpp"
#include "vm/term/bits.hpp"

namespace vmrun {
namespace {

Binary* reserve(Binary* b, std::size_t capacity) {
  b = Binary::reserve(b, capacity);
  if (!b) out_of_memory("a term in the external format", capacity);
  return b;
}

}  // namespace

ExternalBytes::~ExternalBytes() {
  if (binary_) Binary::drop_reserved(binary_);
}

void ExternalBytes::grow(std::size_t n) {
  capacity_ = std::max(capacity_ * 2, used_ + n + 64);
  const bool first = !binary_;
  binary_ = reserve(binary_, capacity_);
  if (first) std::memcpy(binary_->data, inline_, used_);
  base_ = binary_->data;
}

void ExternalBytes::end_sized(std::size_t begin) {
  std::uint8_t* p = base_ + begin;
  // Before, these bytes held the count of inserted bytes at the beginning.
  const Word before = Word{p[0]} << 24 | Word{p[1]} << 16 | Word{p[2]} << 8 | p[3];
  const Word size = used_ - begin + inserted_bytes_ - before;
  for (unsigned i = 0; i < 4; ++i) p[i] = static_cast<std::uint8_t>(size >> (8 * (3 - i)));
}

Binary* ExternalBytes::take_own_bytes() {
  Binary* b = binary_;
  if (!b) {
    b = reserve(nullptr, used_);
    std::memcpy(b->data, inline_, used_);
  } else if (b->capacity_bytes != used_) {
    b = reserve(b, used_);
  }
  binary_ = nullptr;
  base_ = b->data;
  capacity_ = used_;
  b->announce();
  return b;
}

Term ExternalBytes::to_binary(TermSpace& heap) {
  if (used_ <= kHeapBinaryMaxBytes) return make_binary(heap, base_, used_);
  const std::size_t n = used_;
  Binary* b = take_own_bytes();
  return make_refc_binary(heap, b, b->data, n);
}

Term ExternalBytes::to_iovec(TermSpace& heap) {
  // The list is built from its end. Own bytes between two large binaries share one Binary, if they
  // are many.
  Binary* own = nullptr;
  const auto own_part = [&](std::size_t from, std::size_t to) {
    if (to - from <= kHeapBinaryMaxBytes) return make_binary(heap, base_ + from, to - from);
    if (!own) own = take_own_bytes();
    own->retain();
    return make_refc_binary(heap, own, own->data + from, to - from);
  };
  const auto cons = [&heap](Term head, Term tail) {
    Term* hp = heap.alloc(2);
    return make_cons(hp, head, tail);
  };
  Term list = Term::nil();
  std::size_t end = used_;
  for (auto i = inserted_.size(); i-- > 0;) {
    const Inserted& b = inserted_[i];
    if (b.at < end) list = cons(own_part(b.at, end), list);
    b.binary->retain();
    list = cons(make_refc_binary(heap, b.binary, const_cast<std::uint8_t*>(b.bytes), b.size), list);
    end = b.at;
  }
  if (end > 0) list = cons(own_part(0, end), list);
  if (own) own->release();
  return list;
}

}  // namespace vmrun
