// SPDX-License-Identifier: Apache-2.0
// The subroutines that the machine does not provide, after the guide and dtrace's own. A text that
// is made lies in scratch memory. NULL where a text must be is a bad address.
#include <arpa/inet.h>

#include <algorithm>
#include <charconv>
#include <cstring>

#include "probes/engine/host.hpp"
#include "probes/engine/json_reader.hpp"
#include "probes/engine/state.hpp"

namespace vmrun::d {

namespace {

using Arguments = const std::uint64_t*;
using Result = std::uint64_t;

std::int64_t integer(std::uint64_t n) { return static_cast<std::int64_t>(n); }
Result result_of(std::int64_t n) { return static_cast<Result>(n); }

char upper(char c) { return c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c; }
char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

bool length(Thread& t, Arguments a, Result& out) {
  std::string_view s;
  if (!t.text(a[0], s)) return false;
  out = s.size();
  return true;
}

// Makes a text of at most strsize bytes. make(place) writes it and returns its length.
template <class Make>
bool made(Thread& t, std::size_t room, Result& out, Make&& make) {
  t.fuel -= static_cast<std::int64_t>(room);
  if (t.fuel < 0) return t.fail(FaultKind::kIllegalOperation);
  out = t.memory.reserve(room + 1);
  if (out == 0) return t.fail(FaultKind::kNoScratch);
  char* place = t.memory.at(out, room + 1);
  const std::size_t bytes = make(place);
  place[bytes] = '\0';
  t.memory.shrink(out, bytes + 1);
  return true;
}

bool join(Thread& t, Arguments a, Result& out) {
  std::string_view x, y;
  if (!t.text(a[0], x) || !t.text(a[1], y)) return false;
  const std::size_t room = t.shared.program.options.strsize - 1;
  const std::size_t first = std::min(x.size(), room), second = std::min(y.size(), room - first);
  return made(t, first + second, out, [&](char* place) {
    std::memcpy(place, x.data(), first);
    std::memcpy(place + first, y.data(), second);
    return first + second;
  });
}

bool part(Thread& t, std::string_view s, std::size_t at, Result& out) {
  return at == std::string_view::npos ? (out = 0, true) : t.make_text(s.substr(at), out);
}

std::size_t position(std::string_view s, std::string_view what, std::size_t from = 0) {
  if (what.empty()) return from <= s.size() ? from : std::string_view::npos;
  if (from >= s.size()) return std::string_view::npos;
  const void* found = memmem(s.data() + from, s.size() - from, what.data(), what.size());
  return found == nullptr ? std::string_view::npos
                          : static_cast<std::size_t>(static_cast<const char*>(found) - s.data());
}

bool find_text(Thread& t, Arguments a, Result& out) {
  std::string_view s, what;
  return t.text(a[0], s) && t.text(a[1], what) && part(t, s, position(s, what), out);
}

bool find_character(Thread& t, Arguments a, Result& out) {
  std::string_view s;
  return t.text(a[0], s) && part(t, s, s.find(static_cast<char>(a[1])), out);
}

bool find_last_character(Thread& t, Arguments a, Result& out) {
  std::string_view s;
  return t.text(a[0], s) && part(t, s, s.rfind(static_cast<char>(a[1])), out);
}

bool token(Thread& t, Arguments a, Result& out) {
  std::string_view separators;
  if (!t.text(a[1], separators)) return false;
  if (a[0] != 0) {
    std::string_view s;
    if (!t.text(a[0], s)) return false;
    t.token_text.assign(s);  // there is room for strsize
    t.token_at = 0;
    t.has_token = true;
  } else if (!t.has_token) {
    return t.fail(FaultKind::kBadAddress, 0);
  }
  bool separates[256] = {};
  for (const char c : separators) separates[static_cast<unsigned char>(c)] = true;
  auto is_separator = [&](std::size_t at) { return separates[static_cast<unsigned char>(t.token_text[at])]; };
  std::size_t at = t.token_at;
  while (at < t.token_text.size() && is_separator(at)) ++at;
  const std::size_t start = at;
  while (at < t.token_text.size() && !is_separator(at)) ++at;
  // The separator stays, because the next call may have other separators.
  t.token_at = at;
  if (start == at) return out = 0, true;
  return t.make_text(std::string_view(t.token_text).substr(start, at - start), out);
}

// Indexes and lengths work as in dtrace: negative ones count from the end.
bool substring(Thread& t, Arguments a, Result& out) {
  std::string_view s;
  if (!t.text(a[0], s)) return false;
  const auto size = static_cast<std::int64_t>(s.size());
  std::int64_t index = integer(a[1]), left = integer(a[2]);
  if (index < 0) {
    if (index < -size) {
      // The part before the text is subtracted from the length.
      if (left > 0) left = std::max<std::int64_t>(left + index + size, 0);
      index = 0;
    } else {
      index += size;
    }
  }
  if (index >= size) return t.make_text("", out);
  if (left < 0) left = std::max<std::int64_t>(left < -size ? 0 : size - index + left, 0);
  return t.make_text(s.substr(static_cast<std::size_t>(index), static_cast<std::size_t>(left)), out);
}

// The third argument says where to begin. The compiler puts 0 where the script has none.
bool index_of(Thread& t, Arguments a, Result& out) {
  std::string_view s, what;
  if (!t.text(a[0], s) || !t.text(a[1], what)) return false;
  const auto size = static_cast<std::int64_t>(s.size());
  const std::int64_t from = std::max<std::int64_t>(integer(a[2]), 0);
  const bool beyond = from > size || (from == size && !what.empty());
  const auto at = beyond ? std::string_view::npos : position(s, what, static_cast<std::size_t>(from));
  out = result_of(at == std::string_view::npos ? -1 : static_cast<std::int64_t>(at));
  return true;
}

// The compiler puts INT64_MAX where the script has no third argument.
bool last_index_of(Thread& t, Arguments a, Result& out) {
  std::string_view s, what;
  if (!t.text(a[0], s) || !t.text(a[1], what)) return false;
  // At each place, looking backwards takes time in proportion to the text that is looked for.
  t.fuel -= static_cast<std::int64_t>(std::min<std::size_t>(s.size() * what.size() / 8, 1 << 30));
  if (t.fuel < 0) return t.fail(FaultKind::kIllegalOperation);
  std::int64_t from = integer(a[2]);
  if (from < 0) {
    out = result_of(what.empty() ? 0 : -1);
    return true;
  }
  from = std::min(from, static_cast<std::int64_t>(s.size()));
  const auto at = s.rfind(what, static_cast<std::size_t>(from));
  out = result_of(at == std::string_view::npos ? -1 : static_cast<std::int64_t>(at));
  return true;
}

int digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  c = lower(c);
  return c >= 'a' && c <= 'z' ? c - 'a' + 10 : 99;
}

bool number_of(Thread& t, Arguments a, Result& out) {
  std::string_view s;
  if (!t.text(a[0], s)) return false;
  const std::int64_t base = integer(a[1]);
  if (base < 2 || base > 36) return t.fail(FaultKind::kIllegalOperation);
  const auto start = s.find_first_not_of(" \t\n\v\f\r");
  s.remove_prefix(std::min(start, s.size()));
  const bool negative = !s.empty() && s[0] == '-';
  if (!s.empty() && (s[0] == '-' || s[0] == '+')) s.remove_prefix(1);
  if (base == 16 && s.size() > 2 && s[0] == '0' && lower(s[1]) == 'x' && digit(s[2]) < 16) s.remove_prefix(2);
  out = 0;
  for (const char c : s) {
    if (digit(c) >= base) break;
    out = out * static_cast<std::uint64_t>(base) + static_cast<std::uint64_t>(digit(c));
  }
  if (negative) out = 0 - out;
  return true;
}

// Writes a number as dtrace does: base 10 is signed and other bases are not. Octal numbers begin
// with 0, hexadecimal ones with 0x.
bool text_of(Thread& t, Arguments a, Result& out) {
  const std::int64_t base = integer(a[1]);
  if (base < 2 || base > 36) return t.fail(FaultKind::kIllegalOperation);
  const bool negative = base == 10 && integer(a[0]) < 0;
  std::uint64_t n = negative ? 0 - a[0] : a[0];
  char buffer[72];
  char* at = buffer + sizeof buffer;
  do {
    const auto value = static_cast<int>(n % static_cast<std::uint64_t>(base));
    *--at = static_cast<char>(value < 10 ? '0' + value : 'a' + value - 10);
    n /= static_cast<std::uint64_t>(base);
  } while (n != 0);
  if (negative) *--at = '-';
  if (a[0] != 0 && base == 16) *--at = 'x';
  if (a[0] != 0 && (base == 16 || base == 8)) *--at = '0';
  return t.make_text({at, static_cast<std::size_t>(buffer + sizeof buffer - at)}, out);
}

template <char (*kChange)(char)>
bool changed(Thread& t, Arguments a, Result& out) {
  std::string_view s;
  if (!t.text(a[0], s) || !t.make_text(s, out)) return false;
  for (char* at = t.memory.at(out, 1); *at != '\0'; ++at) *at = kChange(*at);
  return true;
}

bool base_name(Thread& t, Arguments a, Result& out) {
  std::string_view s;
  if (!t.text(a[0], s)) return false;
  if (s.empty()) return t.make_text(".", out);
  const auto last = s.find_last_not_of('/');
  if (last == std::string_view::npos) return t.make_text("/", out);
  s = s.substr(0, last + 1);
  const auto slash = s.rfind('/');
  return t.make_text(slash == std::string_view::npos ? s : s.substr(slash + 1), out);
}

bool directory_name(Thread& t, Arguments a, Result& out) {
  std::string_view s;
  if (!t.text(a[0], s)) return false;
  const auto last = s.find_last_not_of('/');
  if (last == std::string_view::npos) return t.make_text(s.empty() ? "." : "/", out);
  const auto slash = s.rfind('/', last);
  if (slash == std::string_view::npos) return t.make_text(".", out);
  const auto end = s.find_last_not_of('/', slash);
  return t.make_text(end == std::string_view::npos ? "/" : s.substr(0, end + 1), out);
}

// Writes the path without empty parts, "." and "..". A ".." that leads above the start of the path
// stays.
std::size_t clean(std::string_view s, char* place) {
  const bool rooted = !s.empty() && s[0] == '/';
  const std::size_t start = rooted ? 1 : 0;
  std::size_t used = 0, fixed = 0;  // the ".."s before `fixed` stay
  if (rooted) place[used++] = '/';
  for (std::size_t at = 0; at < s.size();) {
    const auto end = std::min(s.find('/', at), s.size());
    const auto name = s.substr(at, end - at);
    at = end + 1;
    if (name.empty() || name == ".") continue;
    const bool up = name == "..";
    if (up && used > std::max(start, fixed)) {
      while (used > start && place[used - 1] != '/') --used;
      if (used > start) --used;
      continue;
    }
    if (up && rooted) continue;
    if (used > start) place[used++] = '/';
    std::memcpy(place + used, name.data(), name.size());
    used += name.size();
    if (up) fixed = used;
  }
  if (used == 0 && !s.empty()) place[used++] = '.';
  return used;
}

bool clean_path(Thread& t, Arguments a, Result& out) {
  std::string_view s;
  return t.text(a[0], s) && made(t, s.size(), out, [&](char* place) { return clean(s, place); });
}

// of_ipv4: an IPv4 address within an IPv6 one (mapped or compatible) is shown as an IPv4 address.
bool network_address(Thread& t, std::uint64_t family, Address address, Result& out, bool of_ipv4 = false) {
  if (family != AF_INET && family != AF_INET6) return t.fail(FaultKind::kIllegalOperation);
  const char* from = t.memory.at(address, family == AF_INET ? 4 : 16);
  if (from == nullptr) return t.fail(FaultKind::kBadAddress, address);
  char text[INET6_ADDRSTRLEN];
  inet_ntop(static_cast<int>(family), from, text, sizeof text);
  std::string_view shown(text);
  if (of_ipv4 && shown.find('.') != std::string_view::npos) shown.remove_prefix(shown.rfind(':') + 1);
  return t.make_text(shown, out);
}

bool json(Thread& t, Arguments a, Result& out) {
  std::string_view text, path;
  if (!t.text(a[0], text) || !t.text(a[1], path)) return false;
  const auto found = json_element(text, path);
  if (found) return t.make_text(*found, out);
  out = 0;
  return true;
}

// Copies bytes of a text. Behind the end of the text, zeros are copied.
bool bytes_to(Thread& t, Address text, std::size_t bytes, Address to) {
  std::string_view s;
  if (!t.text(text, s)) return false;
  char* place = t.memory.at(to, bytes);
  if (place == nullptr) return t.fail(FaultKind::kBadAddress, to);
  t.fuel -= static_cast<std::int64_t>(bytes);
  if (t.fuel < 0) return t.fail(FaultKind::kIllegalOperation);
  const std::size_t own = std::min(s.size(), bytes);
  std::memmove(place, s.data(), own);
  std::memset(place + own, 0, bytes - own);
  return true;
}

bool copy_in(Thread& t, Arguments a, Result& out) {
  const std::uint64_t text = a[0], bytes = a[1];  // read first, because out may be a[0]
  if (bytes > t.shared.program.options.strsize) return t.fail(FaultKind::kBadAddress, text);
  if (!t.allocate(std::max<std::size_t>(bytes, 1), out)) return false;
  return bytes_to(t, text, bytes, out);
}

bool copy_in_to(Thread& t, Arguments a) { return bytes_to(t, a[0], a[1], a[2]); }

bool of_code(Thread& t, Subroutine which, Arguments a, Result& out) {
  const std::size_t room = std::max<std::size_t>(t.shared.program.options.strsize, 32);
  const std::uint64_t address = a[0];  // read first, because out may be a[0]
  return made(t, room, out, [&](char* place) -> std::size_t {
    if (const std::size_t bytes = t.shared.host.code_text(static_cast<unsigned>(which), address, place, room))
      return std::min(bytes, room - 1);
    place[0] = '0';
    place[1] = 'x';
    return static_cast<std::size_t>(std::to_chars(place + 2, place + room, address, 16).ptr - place);
  });
}

bool swapped(Subroutine which, Arguments a, Result& out) {
  switch (which) {
    case Subroutine::kHtons:
    case Subroutine::kNtohs: out = htons(static_cast<std::uint16_t>(a[0])); break;
    case Subroutine::kHtonl:
    case Subroutine::kNtohl: out = htonl(static_cast<std::uint32_t>(a[0])); break;
    default:
      out = static_cast<std::uint64_t>(htonl(static_cast<std::uint32_t>(a[0]))) << 32 |
            htonl(static_cast<std::uint32_t>(a[0] >> 32));
  }
  return true;
}

// xorshift64*, Vigna 2016.
bool random_number(Thread& t, Result& out) {
  t.random ^= t.random >> 12;
  t.random ^= t.random << 25;
  t.random ^= t.random >> 27;
  out = (t.random * 0x2545f4914f6cdd1dull) >> 1;
  return true;
}

}  // namespace

bool call_subroutine(Thread& t, Subroutine which, Arguments a, Result& out) {
  using enum Subroutine;
  switch (which) {
    case kStrlen: return length(t, a, out);
    case kStrjoin: return join(t, a, out);
    case kStrstr: return find_text(t, a, out);
    case kStrchr: return find_character(t, a, out);
    case kStrrchr: return find_last_character(t, a, out);
    case kStrtok: return token(t, a, out);
    case kSubstr: return substring(t, a, out);
    case kIndex: return index_of(t, a, out);
    case kRindex: return last_index_of(t, a, out);
    case kStrtoll: return number_of(t, a, out);
    case kLltostr: return text_of(t, a, out);
    case kToupper: return changed<upper>(t, a, out);
    case kTolower: return changed<lower>(t, a, out);
    case kBasename: return base_name(t, a, out);
    case kDirname: return directory_name(t, a, out);
    case kCleanpath: return clean_path(t, a, out);
    case kInetNtoa: return network_address(t, AF_INET, a[0], out);
    case kInetNtoa6: return network_address(t, AF_INET6, a[0], out, a[1] == 0);
    case kInetNtop: return network_address(t, a[0], a[1], out);
    case kJson: return json(t, a, out);
    case kCopyin: return copy_in(t, a, out);
    case kCopyinto: return copy_in_to(t, a);
    case kUfunc:
    case kUsym:
    case kUaddr:
    case kUmod: return of_code(t, which, a, out);
    case kHtons:
    case kHtonl:
    case kHtonll:
    case kNtohs:
    case kNtohl:
    case kNtohll: return swapped(which, a, out);
    case kRand: return random_number(t, out);
    default: return t.fail(FaultKind::kIllegalOperation);  // the verifier refuses the machine's subroutines
  }
}

}  // namespace vmrun::d
