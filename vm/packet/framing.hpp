// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

/// Packets in a stream of bytes: where the first one ends, and which part of it is delivered. For
/// sockets and erlang:decode_packet/3. Formats: inet:setopts/2, option packet. Any thread. Whatever
/// the bytes are, failures are only reported by the result.
namespace vmrun {

/// The numbers that prim_inet uses towards drivers.
enum class PacketType : std::uint8_t {
  kRaw,
  k1,  // a length of 1, 2 or 4 bytes in front
  k2,
  k4,
  kAsn1,
  kSunRm,
  kCdr,
  kFcgi,
  kLine,
  kTpkt,
  kHttp,
  kHttpHeader,
  kSslTls,
  kHttpBin,
  kHttpHeaderBin
};
inline constexpr unsigned kPacketTypes = 15;

struct PacketLimits {
  std::uint32_t most = 0;  // bytes after the header; 0: no limit
  std::uint32_t cut = 0;   // lines are cut there, longer http lines are bad; 0: no limit
  std::uint8_t delimiter = '\n';
};

struct PacketLength {
  enum class Kind : std::uint8_t { kMore, kKnown, kBad } kind;  // kMore: it is not known yet
  std::size_t bytes = 0;  // kKnown: with the header; there may be fewer of them so far
};

/// Returns the length of the first packet in the bytes.
PacketLength packet_length(PacketType type, const std::uint8_t* bytes, std::size_t size,
                           const PacketLimits& limits);

/// Returns how many bytes a packet's header has at least, beyond which packet_length may be known.
/// 0: the stream has no packets.
std::size_t least_header(PacketType type);

/// What is delivered of a packet of this length, except for http and ssl_tls: no header, no
/// padding.
struct PacketBody {
  std::size_t begin, size;
};
PacketBody packet_body(PacketType type, const std::uint8_t* bytes, std::size_t length);

inline bool is_http(PacketType t) {
  return t == PacketType::kHttp || t == PacketType::kHttpHeader || t == PacketType::kHttpBin ||
         t == PacketType::kHttpHeaderBin;
}
/// Returns the number of length bytes in front of a packet, if they are its whole header: 1, 2, 4,
/// else 0.
inline unsigned length_bytes(PacketType t) {
  return t == PacketType::k1 ? 1 : t == PacketType::k2 ? 2 : t == PacketType::k4 ? 4 : 0;
}

}  // namespace vmrun
