// SPDX-License-Identifier: Apache-2.0
#include <cstring>

#include "vm/base/allocate.hpp"
#include "vm/dist/wire/input.hpp"
#include "vm/dist/wire/terms.hpp"
#include "vm/heap/fragment_space.hpp"

namespace vmrun::dist {

DecodedPayload decode_term(std::span<const std::uint8_t> bytes, const DecodeOptions& options, Word room,
                           std::size_t* used_bytes) {
  const Measured measured = measure_external(bytes.data(), bytes.size());
  *used_bytes = measured.used_bytes;
  if (measured.error) return {nullptr, measured.error};
  FragmentSpace fragment(measured.words + room);
  const Decoded d = decode_external(fragment.space(), bytes.data(), measured.used_bytes, options);
  if (!d.term) return {nullptr, d.error};
  return {fragment.finish(d.term, room), nullptr};
}

struct PayloadDecoder {
  /// Joins all bytes into one piece.
  static BinaryPart joined(const EncodedPayload& payload) {
    Binary* b = Binary::create(payload.bytes_);
    if (!b) out_of_memory("a message from another node", payload.bytes_);
    std::uint8_t* p = b->data;
    for (const BinaryPart& part : payload.parts_) {
      std::memcpy(p, part.data(), part.size());
      p += part.size();
    }
    return {b, b->data, payload.bytes_};
  }

  static const BinaryPart& join(EncodedPayload& payload) {
    if (payload.parts_.size() > 1) {
      BinaryPart whole = joined(payload);
      payload.parts_.clear();
      payload.parts_.push_back(std::move(whole));
    }
    return payload.parts_[0];
  }

  static DecodedPayload decode(const EncodedPayload& payload, Word room) {
    BinaryPart whole;
    if (payload.parts_.size() > 1) whole = joined(payload);
    const BinaryPart& bytes = payload.parts_.size() > 1 ? whole : payload.parts_[0];
    DecodeOptions options;
    options.version_byte = false;
    options.atoms = payload.atoms_;
    options.owner = bytes.binary();
    std::size_t used;
    const DecodedPayload d = decode_term({bytes.data(), bytes.size()}, options, room, &used);
    if (d.fragment && used != bytes.size()) {
      Fragment::destroy(d.fragment);
      return {nullptr, "bytes behind the message's last term"};
    }
    return d;
  }
};

DecodedPayload decode_payload(const EncodedPayload& payload, Word room) {
  if (payload.empty()) return {nullptr, "there is no payload"};
  return PayloadDecoder::decode(payload, room);
}

bool takes_few_words(EncodedPayload& payload, Word most) {
  if (payload.empty()) return true;
  const BinaryPart& bytes = PayloadDecoder::join(payload);
  return vmrun::takes_few_words(bytes.data(), bytes.size(), most);
}

}  // namespace vmrun::dist
