// SPDX-License-Identifier: Apache-2.0
// Fuzz entry for what arrives from other nodes: headers, atom cache, fragments, control messages,
// payloads. Whatever the packets: no crash, no read outside them, each refusal with a reason; and
// what is understood can be sent on.
//   Bytes with an even first one are packets as they are, each behind a length of two bytes. Others
//   are a seed, from which a good stream of packets is made, and changes to it, of four bytes each.
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include "test/unit/wire/terms.hpp"
#include "vm/dist/wire/wire.hpp"
#include "vm/heap/literal.hpp"
#include "vm/machine.hpp"
#include "vm/term/compare.hpp"

using namespace vmrun;
using namespace vmrun::dist;

namespace {

using Bytes = std::vector<std::uint8_t>;
using Packets = std::vector<Bytes>;

constexpr Flags kFlagSets[] = {0, flag::kDistHdrAtomCache, flag::kFragments,
                               flag::kDistHdrAtomCache | flag::kFragments};

void require(bool good, const char* what) {
  if (good) return;
  std::fprintf(stderr, "fuzz_wire: %s\n", what);
  std::abort();
}

/// Control and payload go out and come back once more.
void send_on(Term control, Term payload) {
  const Flags flags = kFlagSets[3];
  const auto m = encode_message(control, payload, flags, INT64_MAX).message;
  OutputCache out(flags);
  Input in(flags);
  Packet packet;
  for (Taken taken = Taken::kMore; taken != Taken::kMessage;) {
    require(taken == Taken::kMore, "cannot read its own packets");
    out.next_packet(*m, &packet);
    Bytes bytes;
    for (const BinaryPart& p : packet.parts) bytes.insert(bytes.end(), p.data(), p.data() + p.size());
    taken = in.take(bytes.data(), bytes.size(), nullptr);
  }
  require(equal_exact(in.control(), control), "another control message");
  if (!payload) return require(in.payload().empty(), "a payload out of nowhere");
  const DecodedPayload d = decode_payload(in.payload(), 0);
  require(d.fragment && equal_exact(d.fragment->message, payload), "another payload");
  Fragment::destroy(d.fragment);
}

/// False: the connection would be closed.
bool receive(Input& in, const Bytes& bytes, bool in_binary) {
  Binary* b = in_binary ? Binary::create(bytes.size()) : nullptr;
  if (b) std::copy(bytes.begin(), bytes.end(), b->data);
  const Taken taken = in.take(b ? b->data : bytes.data(), bytes.size(), b);
  if (b) b->release();
  require((taken == Taken::kBad) == (in.reason() != nullptr), "a refusal without a reason");
  if (taken == Taken::kMessage) {
    require(in.control().is_tuple(), "a control message that is no tuple");
    if (in.payload().empty()) {
      send_on(in.control(), kNonValue);
    } else if (const DecodedPayload d = decode_payload(in.payload(), 0); d.fragment) {
      send_on(in.control(), d.fragment->message);
      Fragment::destroy(d.fragment);
    } else {
      require(d.error, "neither a payload nor an error");
      return false;
    }
  }
  return taken != Taken::kBad;
}

Packets good_stream(std::uint64_t seed, Flags flags) {
  Arena heap;
  test::SentTerms terms(heap, seed);
  OutputQueue out(flags);
  for (auto n = 1 + terms.below(6); n > 0; --n) {
    Term* hp = heap.alloc(3);
    const Term control = make_tuple(hp, Term::small(22), terms.leaf());
    const Term payload = terms.below(4) == 0   ? kNonValue
                         : terms.below(8) == 0 ? terms.binary(terms.below(200000))
                                               : terms.term(4);
    auto m = encode_message(control, payload, flags, INT64_MAX).message;
    m->sender = n % 3;
    out.push(std::move(m));
  }
  Packets packets;
  for (Packet packet; out.next_packet(&packet);) {
    Bytes& bytes = packets.emplace_back();
    for (const BinaryPart& p : packet.parts) bytes.insert(bytes.end(), p.data(), p.data() + p.size());
  }
  return packets;
}

void change(Packets& packets, const std::uint8_t* four) {
  if (packets.empty()) return;
  Bytes& p = packets[four[0] % packets.size()];
  // Mostly near the beginning, where there is more to be broken.
  const std::size_t at = p.empty() ? 0 : (four[3] & 0x80 ? four[1] << 8 | four[2] : four[1]) % p.size();
  switch (four[3] & 7) {
    case 0: p.resize(at); break;
    case 1: p.insert(p.begin() + static_cast<std::ptrdiff_t>(at), four[2]); break;
    case 2: packets.push_back(p); break;
    case 3: std::swap(p, packets[four[1] % packets.size()]); break;
    case 4: packets.erase(packets.begin() + four[0] % packets.size()); break;
    case 5:
      if (!p.empty()) p[at] = static_cast<std::uint8_t>(p[at] ^ 1u << four[2] % 8);
      break;
    default:
      if (!p.empty()) p[at] = four[2];
  }
}

Packets raw_stream(const std::uint8_t* data, std::size_t size) {
  Packets packets;
  while (size >= 2) {
    const std::size_t n = std::min<std::size_t>(data[0] << 8 | data[1], size - 2);
    packets.emplace_back(data + 2, data + 2 + n);
    data += 2 + n;
    size -= 2 + n;
  }
  return packets;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const bool ready = (connect_machine(), init_literal_area(), true);
  (void)ready;
  if (size < 1) return 0;
  const Flags flags = kFlagSets[data[0] >> 1 & 3];
  const bool in_binary = data[0] & 8, raw = (data[0] & 1) == 0;
  Packets packets;
  if (raw) {
    packets = raw_stream(data + 1, size - 1);
  } else {
    std::uint64_t seed = data[0];
    std::size_t i = 1;
    for (; i < size && i < 4; ++i) seed = seed << 8 | data[i];
    packets = good_stream(seed, flags);
    for (; i + 4 <= size; i += 4) change(packets, data + i);
  }
  Input in(flags);
  bool good = true;
  for (const Bytes& p : packets)
    if (!(good = receive(in, p, in_binary))) break;
  require(good || raw || size > 4, "a good stream is refused");
  return 0;
}
