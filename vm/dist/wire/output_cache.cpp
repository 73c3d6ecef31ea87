// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cassert>
#include <cstring>

#include "vm/dist/wire/header.hpp"
#include "vm/dist/wire/output_queue.hpp"
#include "vm/term/atom.hpp"
#include "vm/term/external_atoms.hpp"
#include "vm/term/external_bytes.hpp"

namespace vmrun::dist {
namespace {

static_assert(kAtomCacheEntries == AtomReferences::kPlaces && kMaxAtomReferences == AtomReferences::kMost);

/// Writes the header's part about the message's atoms. `cache` becomes what the other node has
/// afterwards.
void write_atoms(std::span<const Term> atoms, Term* cache, ExternalBytes& out) {
  const auto n = static_cast<unsigned>(atoms.size());
  std::uint8_t flags[header::flag_bytes(kMaxAtomReferences)] = {};
  const auto add_flags = [&](unsigned i, unsigned v) {
    flags[i / 2] = static_cast<std::uint8_t>(flags[i / 2] | v << (i % 2 ? 4 : 0));
  };
  bool long_atoms = false;
  for (unsigned i = 0; i < n; ++i) {
    const unsigned place = AtomReferences::place_of(atoms[i]);
    const bool is_known = cache[place] == atoms[i];
    add_flags(i, place / header::kSegmentPlaces | (is_known ? 0 : header::kNewAtom));
    long_atoms |= !is_known && atom_text(atoms[i]).size() > 255;
  }
  if (long_atoms) add_flags(n, header::kLongAtoms);
  out.u8(n);
  out.bytes(flags, header::flag_bytes(n));
  for (const Term atom : atoms) {
    Term& known = cache[AtomReferences::place_of(atom)];
    out.u8(AtomReferences::place_of(atom) % header::kSegmentPlaces);
    if (known == atom) continue;
    const std::string_view text = atom_text(atom);
    out.be(text.size(), long_atoms ? 2 : 1);
    out.bytes(text.data(), text.size());
    known = atom;
  }
}

BinaryPart as_part(ExternalBytes& bytes) {
  Binary* b = bytes.take_own_bytes();
  return {b, b->data, bytes.size()};
}

void add(Packet* packet, BinaryPart part) {
  packet->bytes += part.size();
  packet->parts.push_back(std::move(part));
}

}  // namespace

/// Moves the next n bytes, which exist, to the packet.
void OutputCache::cut(OutgoingMessage& m, std::size_t n, Packet* packet) {
  m.sent_bytes_ += n;
  while (n > 0) {
    BinaryPart& part = m.parts_[m.part_];
    const std::size_t here = std::min(n, part.size());
    n -= here;
    if (here == part.size()) {
      add(packet, std::move(part));
      ++m.part_;
    } else {
      add(packet, part.part(0, here));
      part.drop(here);
    }
  }
}

/// Begins a message's packet with the bytes of `head` and its next n bytes.
void OutputCache::cut_first(OutgoingMessage& m, ExternalBytes& head, std::size_t n, Packet* packet) {
  BinaryPart& first = m.parts_[0];
  if (head.size() > kHeaderRoom) {
    add(packet, as_part(head));
    return cut(m, n, packet);
  }
  // The room in front of the first part is for the header, and nothing else refers to it.
  auto* begin = const_cast<std::uint8_t*>(first.data()) - head.size();
  std::memcpy(begin, head.own_bytes().data(), head.size());
  first = BinaryPart(first.take_reference(), begin, first.size() + head.size());
  cut(m, head.size() + n, packet);
  m.sent_bytes_ -= head.size();
}

void OutputCache::pass_through(OutgoingMessage& m, Packet* packet) {
  assert(m.atoms_.empty());
  ExternalBytes head;
  head.u8(header::kPassThrough);
  head.u8(header::kVersion);
  cut_first(m, head, m.control_bytes_, packet);
  if (m.sent_bytes_ == m.bytes_) return;
  ExternalBytes payload_head;
  payload_head.u8(header::kVersion);
  add(packet, as_part(payload_head));
  cut(m, m.bytes_ - m.sent_bytes_, packet);
}

void OutputCache::first_packet(OutgoingMessage& m, Packet* packet) {
  std::size_t n = m.bytes_;
  ExternalBytes head;
  head.u8(header::kVersion);
  if ((flags_ & flag::kFragments) && n > kFragmentBytes) {
    n = std::max(kFragmentBytes, m.control_bytes_);
    m.sequence_ = ++last_sequence_;
    m.fragments_left_ = 1 + (m.bytes_ - n + kFragmentBytes - 1) / kFragmentBytes;
    head.u8(header::kFirstFragment);
    head.be(m.sequence_, 8);
    head.be(m.fragments_left_, 8);
  } else {
    m.fragments_left_ = 1;
    head.u8(header::kWhole);
  }
  if (!atoms_) atoms_ = std::make_unique<Term[]>(kAtomCacheEntries);
  write_atoms(m.atoms_, atoms_.get(), head);
  cut_first(m, head, n, packet);
}

void OutputCache::later_packet(OutgoingMessage& m, Packet* packet) {
  ExternalBytes head;
  head.u8(header::kVersion);
  head.u8(header::kLaterFragment);
  head.be(m.sequence_, 8);
  head.be(m.fragments_left_, 8);
  add(packet, as_part(head));
  cut(m, std::min(m.bytes_ - m.sent_bytes_, kFragmentBytes), packet);
}

bool OutputCache::next_packet(OutgoingMessage& m, Packet* packet) {
  packet->parts.clear();
  packet->bytes = 0;
  if (!header::is_used(flags_)) {
    pass_through(m, packet);
    return false;
  }
  if (m.sent_bytes_ == 0) first_packet(m, packet);
  else later_packet(m, packet);
  return --m.fragments_left_ > 0;
}

}  // namespace vmrun::dist
