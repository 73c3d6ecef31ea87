// SPDX-License-Identifier: Apache-2.0
#include "vm/packet/http.hpp"

#include <algorithm>
#include <iterator>
#include <optional>

#include "vm/base/release.hpp"

namespace vmrun {
namespace {

constexpr std::string_view kMethods[] = {"OPTIONS", "GET", "HEAD", "POST", "PUT", "DELETE", "TRACE"};

// A field's number is its index here plus one.
constexpr std::string_view kFields[] = {"Cache-Control",
                                        "Connection",
                                        "Date",
                                        "Pragma",
                                        "Transfer-Encoding",
                                        "Upgrade",
                                        "Via",
                                        "Accept",
                                        "Accept-Charset",
                                        "Accept-Encoding",
                                        "Accept-Language",
                                        "Authorization",
                                        "From",
                                        "Host",
                                        "If-Modified-Since",
                                        "If-Match",
                                        "If-None-Match",
                                        "If-Range",
                                        "If-Unmodified-Since",
                                        "Max-Forwards",
                                        "Proxy-Authorization",
                                        "Range",
                                        "Referer",
                                        "User-Agent",
                                        "Age",
                                        "Location",
                                        "Proxy-Authenticate",
                                        "Public",
                                        "Retry-After",
                                        "Server",
                                        "Vary",
                                        "Warning",
                                        "Www-Authenticate",
                                        "Allow",
                                        "Content-Base",
                                        "Content-Encoding",
                                        "Content-Language",
                                        "Content-Length",
                                        "Content-Location",
                                        "Content-Md5",
                                        "Content-Range",
                                        "Content-Type",
                                        "Etag",
                                        "Expires",
                                        "Last-Modified",
                                        "Accept-Ranges",
                                        "Set-Cookie",
                                        "Set-Cookie2",
                                        "X-Forwarded-For",
                                        "Cookie",
                                        "Keep-Alive",
                                        "Proxy-Connection"};
constexpr std::size_t kLongestField = 50;  // longer ones are delivered as they are

bool is_space(char c) { return c == ' ' || c == '\t'; }
bool is_digit(char c) { return c >= '0' && c <= '9'; }

/// Reads a line from the front. What is missing is empty, or makes the line malformed: then the
/// functions return false.
class Line {
 public:
  explicit Line(std::string_view text) : rest_(text) {}
  std::string_view rest() const { return rest_; }
  bool at_end() const { return rest_.empty(); }

  bool skip(std::string_view prefix) {
    if (!rest_.starts_with(prefix)) return false;
    rest_.remove_prefix(prefix.size());
    return true;
  }
  /// Skips at least one space.
  bool spaces() {
    if (at_end() || !is_space(rest_[0])) return false;
    skip_spaces();
    return true;
  }
  void skip_spaces() {
    while (!at_end() && is_space(rest_[0])) rest_.remove_prefix(1);
  }
  /// Reads digits, perhaps none. A number that is too large becomes some number above kLargest.
  std::uint64_t digits() {
    std::uint64_t n = 0;
    for (; !at_end() && is_digit(rest_[0]); rest_.remove_prefix(1))
      n = n > kLargest ? n : n * 10 + static_cast<unsigned>(rest_[0] - '0');
    return n;
  }
  bool version(HttpPacket& p) {
    if (at_end() || !is_digit(rest_[0])) return false;
    p.major = static_cast<unsigned>(digits());
    if (!skip(".") || at_end() || !is_digit(rest_[0])) return false;
    p.minor = static_cast<unsigned>(digits());
    return true;
  }
  /// Reads RFC 2616's token, perhaps empty.
  std::string_view token() {
    return take(std::ranges::find_if(rest_, [](char c) {
      return c <= 32 || std::string_view("()<>@,;:\\\"/[]?={}").find(c) != std::string_view::npos;
    }));
  }
  /// Reads up to the next space, and skips the spaces after it.
  std::string_view word() {
    const std::string_view w = take(std::ranges::find_if(rest_, is_space));
    skip_spaces();
    return w;
  }

 private:
  static constexpr std::uint64_t kLargest = (std::uint64_t{1} << 58) / 10;
  std::string_view take(std::string_view::iterator end) {
    const auto size = static_cast<std::size_t>(end - rest_.begin());
    const std::string_view taken = rest_.substr(0, size);
    rest_.remove_prefix(size);
    return taken;
  }
  std::string_view rest_;
};

std::string_view without_end(std::string_view line) {
  if (line.size() >= 2 && line[line.size() - 2] == '\r') line.remove_suffix(2);
  else if (!line.empty() && line.back() == '\n') line.remove_suffix(1);
  return line;
}

// ---- The first line -----------------------------------------------------------------------------

bool equal_ignoring_case(std::string_view a, std::string_view lower) {
  return std::ranges::equal(a, lower, [](char x, char y) { return (x | 0x20) == y; });
}

/// Returns where the host ends in HOST[:PORT]: an IPv6 address stands in brackets and has colons
/// of its own.
std::size_t end_of_host(std::string_view authority) {
  const std::size_t colon = authority.find(':'), bracket = authority.find(']');
  const bool is_address = colon != authority.npos && authority[0] == '[' && bracket != authority.npos;
  return is_address && release_has(Trait::kIpv6Hosts) ? bracket + 1 : colon;
}

/// Parses what follows http:// or https://
void absolute_uri(HttpPacket& p, bool secure, std::string_view text) {
  p.uri = HttpPacket::Uri::kAbsolute;
  p.secure = secure;
  const std::size_t slash = text.find('/');
  const std::string_view authority = text.substr(0, slash);
  p.path = slash == text.npos ? std::string_view("/") : text.substr(slash);
  const std::size_t end = end_of_host(authority);
  p.scheme_or_host = authority.substr(0, end);
  if (end >= authority.size() || authority[end] != ':') return;
  Line port(authority.substr(end + 1));
  const std::uint64_t number = port.digits();
  if (port.at_end()) p.port = number;
}

void parse_uri(HttpPacket& p, std::string_view text) {
  p.path = text;
  if (text == "*") {
    p.uri = HttpPacket::Uri::kStar;
    return;
  }
  if (text.size() <= 1 || text[0] == '/') {
    p.uri = HttpPacket::Uri::kAbsolutePath;
    return;
  }
  const std::size_t colon = text.find(':');
  if (colon == text.npos) return;
  const std::string_view scheme = text.substr(0, colon), rest = text.substr(colon + 1);
  const bool plain = equal_ignoring_case(scheme, "http"), secure = equal_ignoring_case(scheme, "https");
  if ((plain || secure) && rest.starts_with("//")) return absolute_uri(p, secure, rest.substr(2));
  p.uri = HttpPacket::Uri::kScheme;
  p.scheme_or_host = scheme;
  p.path = rest;
}

bool parse_response(HttpPacket& p, Line line) {
  p.kind = HttpPacket::Kind::kResponse;
  if (!line.version(p) || !line.spaces()) return false;
  p.status = line.digits();
  if (!line.at_end() && !line.spaces()) return false;
  p.text = line.rest();
  return true;
}

bool parse_request(HttpPacket& p, Line line) {
  p.kind = HttpPacket::Kind::kRequest;
  p.text = line.token();
  if (p.text.empty() || !line.spaces()) return false;
  const auto* known = std::ranges::find(kMethods, p.text);
  if (known != std::end(kMethods)) p.known = *known;
  if (line.at_end()) return false;
  parse_uri(p, line.word());
  return line.at_end() || (line.skip("HTTP/") && line.version(p));
}

bool parse_start(HttpPacket& p, Line line) {
  return line.skip("HTTP/") ? parse_response(p, line) : parse_request(p, line);
}

// ---- Headers ------------------------------------------------------------------------------------

/// Converts Content-type to Content-Type.
std::string with_capitals(std::string_view name) {
  std::string proper(name);
  bool upper = true;
  for (char& c : proper) {
    if (upper && c >= 'a' && c <= 'z') c = static_cast<char>(c - 32);
    else if (!upper && c >= 'A' && c <= 'Z') c = static_cast<char>(c + 32);
    upper = !upper && c == '-';
  }
  return proper;
}

bool parse_header(HttpPacket& p, Line line) {
  if (line.at_end()) {
    p.kind = HttpPacket::Kind::kEndOfHeaders;
    return true;
  }
  p.kind = HttpPacket::Kind::kHeader;
  p.text = line.token();
  if (!line.skip(":")) return false;
  line.skip_spaces();
  p.value = line.rest();
  if (p.text.size() > kLongestField) {
    p.proper = p.text;
    return true;
  }
  p.proper = with_capitals(p.text);
  const auto* known = std::ranges::find(kFields, std::string_view(p.proper));
  if (known != std::end(kFields)) {
    p.known = *known;
    p.field = static_cast<unsigned>(known - std::begin(kFields)) + 1;
  }
  return true;
}

}  // namespace

HttpPacket parse_http(PacketType type, std::string_view bytes) {
  const bool header = type == PacketType::kHttpHeader || type == PacketType::kHttpHeaderBin;
  HttpPacket p;
  const Line line(without_end(bytes));
  if (header ? parse_header(p, line) : parse_start(p, line)) return p;
  HttpPacket bad;
  bad.text = bytes;
  return bad;
}

TlsRecord parse_tls(std::string_view bytes) {
  const auto byte = [&](std::size_t i) { return static_cast<std::uint8_t>(bytes[i]); };
  if (!(byte(0) & 0x80) || byte(2) != 1) return {byte(0), byte(1), byte(2), {}, 5};
  const std::size_t hello = bytes.size() - 3;
  std::string front{1};
  for (int shift = 16; shift >= 0; shift -= 8) front += static_cast<char>(hello >> shift);
  return {22, byte(3), byte(4), front, 3};
}

}  // namespace vmrun
