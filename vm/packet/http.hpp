// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "vm/packet/framing.hpp"

/// Lines of http and records of TLS, as the packet types http and ssl_tls deliver them: parsed and
/// converted to terms. Terms: erlang:decode_packet/3. Any thread.
namespace vmrun {

struct HttpPacket {
  enum class Kind : std::uint8_t { kRequest, kResponse, kHeader, kEndOfHeaders, kError };
  enum class Uri : std::uint8_t { kStar, kAbsolutePath, kAbsolute, kScheme, kText };
  Kind kind = Kind::kError;
  std::string_view text;   // request: method, response: phrase, header: name, error: the line
  std::string_view known;  // a method or field that is an atom; empty: not known
  unsigned field = 0;      // header: index in the list of known fields plus one, 0: not in it
  std::string proper;      // header that is not in it: its name in the usual capitals
  std::string_view value;  // header
  unsigned major = 0, minor = 9;
  std::uint64_t status = 0;
  // request
  Uri uri = Uri::kText;
  bool secure = false;  // kAbsolute: https
  std::string_view scheme_or_host, path;
  std::uint64_t port = 0;  // 0: not given
};

/// Parses a packet of packet_length bytes. type: one for which is_http is true.
HttpPacket parse_http(PacketType type, std::string_view bytes);

inline bool http_as_binaries(PacketType t) {
  return t == PacketType::kHttpBin || t == PacketType::kHttpHeaderBin;
}

/// Writes the URI to a Sink: atom(text), number(n), text(bytes) as list or binary, tuple(n) of the
/// last n.
template <class Sink>
void put_uri(Sink& to, const HttpPacket& p) {
  switch (p.uri) {
    case HttpPacket::Uri::kStar: to.atom("*"); break;
    case HttpPacket::Uri::kText: to.text(p.path); break;
    case HttpPacket::Uri::kAbsolutePath:
      to.atom("abs_path");
      to.text(p.path);
      to.tuple(2);
      break;
    case HttpPacket::Uri::kScheme:
      to.atom("scheme");
      to.text(p.scheme_or_host);
      to.text(p.path);
      to.tuple(3);
      break;
    case HttpPacket::Uri::kAbsolute:
      to.atom("absoluteURI");
      to.atom(p.secure ? "https" : "http");
      to.text(p.scheme_or_host);
      if (p.port) to.number(p.port);
      else to.atom("undefined");
      to.text(p.path);
      to.tuple(5);
      break;
  }
}

template <class Sink>
void put_http(Sink& to, const HttpPacket& p) {
  const auto version = [&] {
    to.number(p.major);
    to.number(p.minor);
    to.tuple(2);
  };
  switch (p.kind) {
    case HttpPacket::Kind::kEndOfHeaders: to.atom("http_eoh"); break;
    case HttpPacket::Kind::kError:
      to.atom("http_error");
      to.text(p.text);
      to.tuple(2);
      break;
    case HttpPacket::Kind::kRequest:
      to.atom("http_request");
      if (!p.known.empty()) to.atom(p.known);
      else to.text(p.text);
      put_uri(to, p);
      version();
      to.tuple(4);
      break;
    case HttpPacket::Kind::kResponse:
      to.atom("http_response");
      version();
      to.number(p.status);
      to.text(p.text);
      to.tuple(4);
      break;
    case HttpPacket::Kind::kHeader:
      to.atom("http_header");
      to.number(p.field);
      if (p.field) to.atom(p.known);
      else to.text(p.proper);
      to.text(p.text);
      to.text(p.value);
      to.tuple(5);
      break;
  }
}

/// A record of TLS: {ssl_tls, Where, Type, {Major, Minor}, Data}. The hello of an SSL 2 client is
/// converted to the form of the others.
struct TlsRecord {
  unsigned type, major, minor;
  std::string front;  // begins the data, and is not in the packet
  std::size_t begin;  // where the data begin in the packet
};
TlsRecord parse_tls(std::string_view bytes);

}  // namespace vmrun
