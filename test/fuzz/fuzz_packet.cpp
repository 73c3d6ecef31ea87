// SPDX-License-Identifier: Apache-2.0
// Fuzz entry for the packet types of sockets and erlang:decode_packet/3. Whatever the bytes: no
// read outside them, every packet has a length, what is told of it lies inside, and http is one
// term.
//   First byte: the type; the next three: limits; then bytes as they would arrive.
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string_view>

#include "vm/packet/framing.hpp"
#include "vm/packet/http.hpp"

using namespace vmrun;

namespace {

using Kind = PacketLength::Kind;

void require(bool good, const char* what) {
  if (good) return;
  std::fprintf(stderr, "fuzz_packet: %s\n", what);
  std::abort();
}

/// Keeps no terms, only how many there are.
struct CountingSink {
  unsigned terms = 0;
  void atom(std::string_view name) {
    require(!name.empty() && name.size() < 256, "an atom that cannot be");
    ++terms;
  }
  void number(std::uint64_t) { ++terms; }
  void text(std::string_view) { ++terms; }
  void tuple(unsigned n) {
    require(n <= terms, "a tuple of more than there is");
    terms = terms - n + 1;
  }
};

/// Types whose length stands in their first bytes: what is known of it cannot change.
bool says_its_length(PacketType t) { return t != PacketType::kRaw && t != PacketType::kLine && !is_http(t); }

void parse(PacketType type, std::string_view packet) {
  if (is_http(type)) {
    CountingSink sink;
    put_http(sink, parse_http(type, packet));
    require(sink.terms == 1, "http that is not one term");
  } else if (type == PacketType::kSslTls) {
    const TlsRecord record = parse_tls(packet);
    require(record.begin <= packet.size(), "data of TLS behind the packet");
  } else {
    const auto* bytes = reinterpret_cast<const std::uint8_t*>(packet.data());
    const PacketBody body = packet_body(type, bytes, packet.size());
    require(body.begin + body.size <= packet.size(), "a body outside its packet");
  }
}

/// As a socket does: bytes come a few at a time, and packets leave at the front.
void receive(PacketType type, const PacketLimits& limits, const std::uint8_t* data, std::size_t size) {
  while (size > 0) {
    PacketLength before{Kind::kMore};
    std::size_t have = 0;
    // Bytes of just this size: whoever reads behind them is found.
    for (have = 1; have < size && before.kind == Kind::kMore; have = std::min(size, have + 1 + have / 4)) {
      const auto part = std::make_unique<std::uint8_t[]>(have);
      std::copy_n(data, have, part.get());
      before = packet_length(type, part.get(), have, limits);
    }
    const auto whole = std::make_unique<std::uint8_t[]>(size);
    std::copy_n(data, size, whole.get());
    const PacketLength length = packet_length(type, whole.get(), size, limits);
    if (before.kind == Kind::kKnown && says_its_length(type))
      require(length.kind == Kind::kKnown && length.bytes == before.bytes, "a length that changes");
    if (length.kind != Kind::kKnown) return;
    require(length.bytes > 0, "a packet without bytes");
    if (length.bytes > size) return;
    const auto packet = std::make_unique<char[]>(length.bytes);
    std::copy_n(data, length.bytes, packet.get());
    parse(type, {packet.get(), length.bytes});
    data += length.bytes;
    size -= length.bytes;
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 4) return 0;
  const auto type = static_cast<PacketType>(data[0] % kPacketTypes);
  // Half of the time none; small ones, so that they are met.
  const PacketLimits limits{.most = data[1] & 1 ? data[1] : 0u,
                            .cut = data[2] & 1 ? data[2] : 0u,
                            .delimiter = data[3] & 1 ? data[3] : std::uint8_t{'\n'}};
  receive(type, limits, data + 4, size - 4);
  return 0;
}
