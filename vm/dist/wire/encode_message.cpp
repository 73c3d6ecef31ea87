// SPDX-License-Identifier: Apache-2.0
#include "vm/dist/wire/output_queue.hpp"
#include "vm/term/external.hpp"
#include "vm/term/external_atoms.hpp"

namespace vmrun::dist {

/// Encodes a message.
class MessageEncoder {
 public:
  static EncodedMessage encode(Term control, Term payload, Flags flags, SWord steps) {
    AtomReferences atoms;
    EncodeOptions options;
    options.minor_version = 2;
    options.version_byte = false;
    options.insert_binaries = true;
    if (flags & flag::kDistHdrAtomCache) options.atoms = &atoms;
    ExternalBytes bytes;
    (void)bytes.room(kHeaderRoom);
    bytes.advance(kHeaderRoom);
    Encoded how = encode_external_within(&steps, control, options, &bytes);
    const std::size_t control_bytes = bytes.size() - kHeaderRoom;
    if (payload && how == Encoded::kWhole) how = encode_external_within(&steps, payload, options, &bytes);
    if (how != Encoded::kWhole) return {how, nullptr};

    auto m = std::make_unique<OutgoingMessage>();
    m->atoms_.assign(atoms.atoms().begin(), atoms.atoms().end());
    m->control_bytes_ = control_bytes;
    m->bytes_ = bytes.size() - kHeaderRoom;
    cut_into_parts(bytes, m->parts_);
    return {how, std::move(m)};
  }

 private:
  static void cut_into_parts(ExternalBytes& bytes, std::vector<BinaryPart>& parts) {
    parts.reserve(2 * bytes.inserted().size() + 1);
    const std::size_t end = bytes.own_bytes().size();
    Binary* b = bytes.take_own_bytes();
    const BinaryPart own(b, b->data, end);
    std::size_t begin = kHeaderRoom;
    for (const ExternalBytes::Inserted& i : bytes.inserted()) {
      if (i.at > begin) parts.push_back(own.part(begin, i.at - begin));
      i.binary->retain();
      parts.emplace_back(i.binary, i.bytes, i.size);
      begin = i.at;
    }
    if (end > begin) parts.push_back(own.part(begin, end - begin));
  }
};

EncodedMessage encode_message(Term control, Term payload, Flags flags, SWord steps) {
  return MessageEncoder::encode(control, payload, flags, steps);
}

}  // namespace vmrun::dist
