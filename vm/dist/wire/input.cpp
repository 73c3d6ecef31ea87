// SPDX-License-Identifier: Apache-2.0
#include "vm/dist/wire/input.hpp"

#include <cstring>

#include "vm/base/allocate.hpp"
#include "vm/dist/wire/header.hpp"
#include "vm/dist/wire/output_queue.hpp"
#include "vm/dist/wire/terms.hpp"

namespace vmrun::dist {
namespace {

constexpr char kEndsEarly[] = "a packet that ends in the middle of its header";

}  // namespace

/// Reads the bytes of a packet.
class Input::Reader {
 public:
  Reader(const std::uint8_t* data, std::size_t size, Binary* binary)
      : p_(data), end_(data + size), binary_(binary) {}

  std::size_t left() const { return static_cast<std::size_t>(end_ - p_); }
  const std::uint8_t* data() const { return p_; }
  std::uint8_t u8() { return *p_++; }
  std::uint64_t be(unsigned bytes) {
    std::uint64_t v = 0;
    for (; bytes > 0; --bytes) v = v << 8 | *p_++;
    return v;
  }
  void skip(std::size_t n) { p_ += n; }
  /// Returns the rest. It is retained if that does not keep much more memory from being freed, else
  /// copied.
  BinaryPart rest() const {
    if (binary_ && left() >= binary_->capacity_bytes / 4) {
      binary_->retain();
      return {binary_, p_, left()};
    }
    Binary* b = Binary::create(left());
    if (!b) out_of_memory("a message from another node", left());
    std::memcpy(b->data, p_, left());
    return {b, b->data, left()};
  }

 private:
  const std::uint8_t* p_;
  const std::uint8_t* end_;
  Binary* binary_;
};

Input::Input(Flags flags) : flags_(flags) {}
Input::~Input() = default;

Taken Input::bad(const char* why) {
  reason_ = why;
  return Taken::kBad;
}

bool Input::refuse(const char* why) {
  reason_ = why;
  return false;
}

/// Reads the atoms of a header: those of the message, and those that the cache has from now on.
bool Input::read_atoms(Reader& r) {
  if (r.left() < 1) return refuse(kEndsEarly);
  const unsigned n = r.u8();
  payload_.atoms_.clear();
  if (n == 0) return true;
  if (r.left() < header::flag_bytes(n)) return refuse(kEndsEarly);
  const std::uint8_t* flags = r.data();
  r.skip(header::flag_bytes(n));
  const auto flags_of = [flags](unsigned i) { return flags[i / 2] >> (i % 2 ? 4 : 0) & 0xFu; };
  const unsigned length_bytes = flags_of(n) & header::kLongAtoms ? 2 : 1;
  if (!cache_) cache_ = std::make_unique<Term[]>(kAtomCacheEntries);
  for (unsigned i = 0; i < n; ++i) {
    if (r.left() < 1) return refuse(kEndsEarly);
    Term& atom = cache_[(flags_of(i) & header::kSegment) * header::kSegmentPlaces + r.u8()];
    if (flags_of(i) & header::kNewAtom) {
      if (r.left() < length_bytes) return refuse(kEndsEarly);
      const std::size_t size = r.be(length_bytes);
      if (r.left() < size) return refuse(kEndsEarly);
      atom = atom_from_utf8(r.data(), size, false, &reason_);
      r.skip(size);
      if (!atom) return false;
    }
    if (!atom) return refuse("an atom that is not in the cache");
    payload_.atoms_.push_back(atom);
  }
  return true;
}

/// Reads the control message, which always lies completely in the first fragment.
bool Input::read_control(Reader& r) {
  DecodeOptions options;
  options.version_byte = false;
  options.atoms = payload_.atoms_;
  std::size_t used;
  const DecodedPayload d = decode_term({r.data(), r.left()}, options, 0, &used);
  if (!d.fragment) return refuse(d.error);
  control_.reset(d.fragment);
  r.skip(used);
  return control().is_tuple() || refuse("a control message that is no tuple");
}

void Input::keep(Reader& r, EncodedPayload& payload) {
  if (r.left() == 0) return;
  payload.bytes_ += r.left();
  payload.parts_.push_back(r.rest());
}

Taken Input::take_whole(Reader& r) {
  if (!read_atoms(r) || !read_control(r)) return Taken::kBad;
  keep(r, payload_);
  return Taken::kMessage;
}

Taken Input::take_passed_through(Reader& r) {
  if (r.u8() != header::kPassThrough) return bad("an unknown kind of packet");
  if (r.left() == 0 || r.u8() != header::kVersion) return bad("a term that does not begin with 131");
  if (!read_control(r)) return Taken::kBad;
  if (r.left() == 0) return Taken::kMessage;
  if (r.u8() != header::kVersion) return bad("a term that does not begin with 131");
  keep(r, payload_);
  return Taken::kMessage;
}

Taken Input::take_first_fragment(Reader& r) {
  if (r.left() < header::kFragmentNumbersBytes) return bad(kEndsEarly);
  const std::uint64_t sequence = r.be(8), fragment = r.be(8);
  if (fragment == 0) return bad("a fragment with the number 0");
  if (fragment == 1) return take_whole(r);
  if (sequences_.contains(sequence)) return bad("a message begins in the middle of another");
  if (sequences_.size() == kMaxOpenSequences) return bad("too many messages in fragments at once");
  if (!read_atoms(r) || !read_control(r)) return Taken::kBad;
  keep(r, payload_);
  sequences_.try_emplace(sequence, Sequence{std::move(control_), std::move(payload_), fragment - 1});
  payload_ = EncodedPayload();
  return Taken::kMore;
}

Taken Input::take_later_fragment(Reader& r) {
  if (r.left() < header::kFragmentNumbersBytes) return bad(kEndsEarly);
  const std::uint64_t number = r.be(8), fragment = r.be(8);
  const auto found = sequences_.find(number);
  if (found == sequences_.end()) return bad("a fragment of a message that has not begun");
  Sequence& sequence = found->second;
  if (fragment != sequence.next) return bad("a fragment out of order");
  keep(r, sequence.payload);
  if (--sequence.next > 0) return Taken::kMore;
  control_ = std::move(sequence.control);
  payload_ = std::move(sequence.payload);
  sequences_.erase(found);
  return Taken::kMessage;
}

Taken Input::take(const std::uint8_t* data, std::size_t size, Binary* binary) {
  control_.reset();
  payload_.clear();
  if (is_bad()) return Taken::kBad;
  if (size == 0) return Taken::kTick;
  Reader r(data, size, binary);
  if (!header::is_used(flags_)) return take_passed_through(r);
  if (r.left() < 2) return bad(kEndsEarly);
  if (r.u8() != header::kVersion) return bad("a packet that does not begin with 131");
  switch (r.u8()) {
    case header::kWhole: return take_whole(r);
    case header::kFirstFragment: return take_first_fragment(r);
    case header::kLaterFragment: return take_later_fragment(r);
  }
  return bad("an unknown kind of packet");
}

}  // namespace vmrun::dist
