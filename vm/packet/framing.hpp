#pragma once

#include <cstddef>
#include <cstdint>

/// Packets in a stream of bytes: where the first one ends, and which part of it is told. For
/// sockets and erlang:decode_packet/3. Formats: inet:setopts/2, option packet. Any thread; never
/// fails but by saying so, whatever the bytes.
namespace vmrun {

/// Numbers as prim_inet says them to drivers.
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
  std::uint32_t cut = 0;   // lines are cut there, longer http lines are bad; 0: never
  std::uint8_t delimiter = '\n';
};

struct PacketLength {
  enum class Kind : std::uint8_t { kMore, kKnown, kBad } kind;  // kMore: it cannot be told yet
  std::size_t bytes = 0;  // kKnown: with the header; there may be fewer of them so far
};

/// How long the first packet of some bytes is.
PacketLength packet_length(PacketType type, const std::uint8_t* bytes, std::size_t size,
                           const PacketLimits& limits);

/// What is told of a packet of this length, http and ssl_tls apart: without header, or padding.
struct PacketBody {
  std::size_t begin, size;
};
PacketBody packet_body(PacketType type, const std::uint8_t* bytes, std::size_t length);

inline bool is_http(PacketType t) {
  return t == PacketType::kHttp || t == PacketType::kHttpHeader || t == PacketType::kHttpBin ||
         t == PacketType::kHttpHeaderBin;
}
/// Bytes of the length in front of a packet, where that is all there is to its header: 1, 2, 4,
/// else 0.
inline unsigned length_bytes(PacketType t) {
  return t == PacketType::k1 ? 1 : t == PacketType::k2 ? 2 : t == PacketType::k4 ? 4 : 0;
}

}  // namespace vmrun
