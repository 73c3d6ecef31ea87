// SPDX-License-Identifier: Apache-2.0
#include "vm/packet/framing.hpp"

#include <algorithm>
#include <cstring>

namespace vmrun {
namespace {

constexpr PacketLength kMore{PacketLength::Kind::kMore}, kBad{PacketLength::Kind::kBad};
constexpr std::size_t kLongest = std::size_t{1} << 31;

PacketLength known(std::size_t bytes) { return {PacketLength::Kind::kKnown, bytes}; }

struct Bytes {
  const std::uint8_t* data;
  std::size_t size;
  std::uint8_t operator[](std::size_t i) const { return data[i]; }
  std::size_t number(std::size_t at, std::size_t bytes) const {
    std::size_t n = 0;
    while (bytes--) n = n << 8 | data[at++];
    return n;
  }
  bool starts_with(const char* text) const { return std::memcmp(data, text, std::strlen(text)) == 0; }
};

/// A header that says how many bytes follow.
PacketLength whole(std::size_t header, std::size_t body, const PacketLimits& limits) {
  if ((limits.most && body > limits.most) || header + body >= kLongest) return kBad;
  return known(header + body);
}

PacketLength counted(Bytes b, unsigned header, const PacketLimits& limits) {
  return b.size < header ? kMore : whole(header, b.number(0, header), limits);
}

PacketLength sun_rm(Bytes b, const PacketLimits& limits) {
  return b.size < 4 ? kMore
                    : whole(4, b.number(0, 4) & 0x7FFFFFFF, limits);  // the top bit marks the last fragment
}

/// CORBA's GIOP: the lowest bit of byte 6 says in which byte order the length is written.
PacketLength cdr(Bytes b, const PacketLimits& limits) {
  if (b.size < 12) return kMore;
  if (!b.starts_with("GIOP")) return kBad;
  std::uint8_t length[4];
  std::memcpy(length, b.data + 8, 4);
  if (b[6] & 1) std::reverse(length, length + 4);
  return whole(12, Bytes{length, 4}.number(0, 4), limits);
}

PacketLength fcgi(Bytes b, const PacketLimits& limits) {
  if (b.size < 8) return kMore;
  return b[0] != 1 ? kBad : whole(8, b.number(4, 2) + b[6], limits);
}

PacketLength tpkt(Bytes b, const PacketLimits& limits) {
  if (b.size < 4) return kMore;
  const std::size_t length = b.number(2, 2);
  return b[0] != 3 || length < 4 ? kBad : whole(4, length - 4, limits);
}

/// A record of TLS, or a client's hello of SSL 2.
PacketLength ssl_tls(Bytes b, const PacketLimits& limits) {
  if (b.size < 5) return kMore;
  if (!(b[0] & 0x80) || b[2] != 1) return whole(5, b.number(3, 2), limits);
  const std::size_t length = b.number(0, 2) & 0x7FFF;
  return length < 3 ? kBad : whole(5, length - 3, limits);
}

/// A tag of one or more bytes, then a length of one byte, or of one byte and up to four more.
PacketLength asn1(Bytes b, const PacketLimits& limits) {
  if (b.size < 2) return kMore;
  std::size_t at = 1;
  if ((b[0] & 0x1F) == 0x1F) {
    while (at < b.size && b[at] & 0x80) ++at;
    ++at;
    if (at >= b.size) return kMore;
  }
  const std::uint8_t first = b[at++];
  if (!(first & 0x80)) return whole(at, first, limits);
  const std::size_t more = first & 0x7F;
  if (more > 4) return b.size - at < more ? kMore : kBad;
  return b.size - at < more ? kMore : whole(at + more, b.number(at, more), limits);
}

PacketLength line(Bytes b, const PacketLimits& limits) {
  const void* end = b.size ? std::memchr(b.data, limits.delimiter, b.size) : nullptr;
  const std::size_t length =
      end ? static_cast<std::size_t>(static_cast<const std::uint8_t*>(end) - b.data) + 1 : 0;
  if (limits.most && (end ? length : b.size) > limits.most) return kBad;
  if (limits.cut && (end ? length > limits.cut : b.size >= limits.cut)) return known(limits.cut);
  return end ? known(length) : kMore;
}

/// A line of http. A header is continued in lines that begin with a space, so the byte after the
/// line must be known.
PacketLength http(Bytes b, bool folded, const PacketLimits& limits) {
  const std::size_t most = limits.most ? limits.most : limits.cut;
  std::size_t from = 0;
  for (;;) {
    const auto* end = from < b.size
                          ? static_cast<const std::uint8_t*>(std::memchr(b.data + from, '\n', b.size - from))
                          : nullptr;
    if (!end) return most && b.size >= most ? kBad : kMore;
    const auto length = static_cast<std::size_t>(end - b.data) + 1;
    const bool is_empty = length == 1 || (length == 2 && b[0] == '\r');
    const bool is_last = length == b.size;
    if (folded && !is_last && length > 2 && (b[length] == ' ' || b[length] == '\t')) {
      from = length;
      continue;
    }
    if (is_empty && is_last) return known(length);
    if (most && length > most) return kBad;
    if (folded && is_last) return kMore;
    return known(length);
  }
}

}  // namespace

PacketLength packet_length(PacketType type, const std::uint8_t* bytes, std::size_t size,
                           const PacketLimits& limits) {
  const Bytes b{bytes, size};
  switch (type) {
    case PacketType::kRaw: return size ? known(size) : kMore;
    case PacketType::k1:
    case PacketType::k2:
    case PacketType::k4: return counted(b, length_bytes(type), limits);
    case PacketType::kAsn1: return asn1(b, limits);
    case PacketType::kSunRm: return sun_rm(b, limits);
    case PacketType::kCdr: return cdr(b, limits);
    case PacketType::kFcgi: return fcgi(b, limits);
    case PacketType::kLine: return line(b, limits);
    case PacketType::kTpkt: return tpkt(b, limits);
    case PacketType::kSslTls: return ssl_tls(b, limits);
    case PacketType::kHttp:
    case PacketType::kHttpBin: return http(b, false, limits);
    case PacketType::kHttpHeader:
    case PacketType::kHttpHeaderBin: return http(b, true, limits);
  }
  return kBad;
}

std::size_t least_header(PacketType type) {
  switch (type) {
    case PacketType::kRaw: return 0;
    case PacketType::kAsn1: return 2;
    case PacketType::k4:
    case PacketType::kSunRm:
    case PacketType::kTpkt: return 4;
    case PacketType::kSslTls: return 5;
    case PacketType::kFcgi: return 8;
    case PacketType::kCdr: return 12;
    default: return std::max(length_bytes(type), 1u);
  }
}

PacketBody packet_body(PacketType type, const std::uint8_t* bytes, std::size_t length) {
  if (const unsigned header = length_bytes(type)) return {header, length - header};
  if (type == PacketType::kFcgi) return {0, length - bytes[6]};
  return {0, length};
}

}  // namespace vmrun
