// Fuzz entry for what epmd is asked. Whatever the requests: no crash, no read outside them; a name
// is known from when it is taken until its connection closes, and nothing else is.
//   The bytes are requests one after the other: a byte that says which connection asks and what
// kind of request it is, one with the length, and so many bytes, of the request or to go into it.
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <string>
#include <string_view>

#include "runtime/epmd/registry.hpp"

using namespace vmrun::epmd;

namespace {

constexpr int kConnections = 8;

void require(bool good, const char* what) {
  if (good) return;
  std::fprintf(stderr, "fuzz_epmd: %s\n", what);
  std::abort();
}

void put16(std::string& out, std::size_t n) {
  out.push_back(static_cast<char>(n >> 8));
  out.push_back(static_cast<char>(n));
}

/// A good request to register the name, at a port that tells the length of the name.
std::string register_request(std::string_view name) {
  std::string r = "x";
  put16(r, name.size());
  r += "M";
  r.push_back('\0');
  put16(r, 6);
  put16(r, 5);
  put16(r, name.size());
  r += name;
  put16(r, 0);
  return r;
}

bool accepted(const Answer& a) { return a.bytes.size() >= 2 && a.bytes[0] == 'v' && a.bytes[1] == 0; }
bool is_known(const Answer& a) { return a.bytes.size() > 2 && a.bytes[0] == 'w' && a.bytes[1] == 0; }

class Asked {
 public:
  void request(std::uint8_t kind, std::string_view bytes) {
    const int connection = kind % kConnections;
    switch (kind >> 3 & 3) {
      case 0: raw(connection, bytes, kind & 0x20); break;
      case 1: take(connection, bytes); break;
      case 2: look_up(bytes); break;
      default: close(connection);
    }
  }

  void end() {
    for (int connection = 0; connection < kConnections; ++connection) close(connection);
    require(registry_.answer("n", kConnections, true).bytes.size() == 4, "a name of nobody is left");
  }

 private:
  /// It may well be a good one.
  void raw(int connection, std::string_view bytes, bool local) {
    const Answer a = registry_.answer(bytes, connection, local);
    require(a.then != Then::kKeepOpen || (local && bytes[0] == 'x'), "a connection stays for no name");
    if (a.then == Then::kKeepOpen) names_of_raw_[connection] = true;
    else if (a.then == Then::kEnd) require(local && bytes[0] == 'k', "ended by another request");
  }

  void take(int connection, std::string_view name) {
    const bool free = !names_.contains(connection) && !names_of_raw_[connection];
    if (!accepted(registry_.answer(register_request(name), connection, true))) return;
    require(free, "a second name over one connection");
    names_[connection] = name;
    look_up(name);
  }

  void look_up(std::string_view name) {
    const bool known = is_known(registry_.answer(std::string("z").append(name), kConnections, false));
    const bool taken = std::ranges::any_of(names_, [&](const auto& n) { return n.second == name; });
    const bool raw = std::ranges::any_of(names_of_raw_, [](bool b) { return b; });
    require(known || !taken, "a name that is taken is not known");
    require(!known || taken || raw, "a name that nobody has is known");
  }

  void close(int connection) {
    registry_.closed(connection);
    names_.erase(connection);
    names_of_raw_[connection] = false;
  }

  Registry registry_{4369, 7, false};
  std::map<int, std::string> names_;      // as they were taken here
  bool names_of_raw_[kConnections] = {};  // connections with a name that was not looked at
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  Asked asked;
  while (size >= 2) {
    const std::size_t n = std::min<std::size_t>(data[1], size - 2);
    asked.request(data[0], {reinterpret_cast<const char*>(data + 2), n});
    data += 2 + n;
    size -= 2 + n;
  }
  asked.end();
  return 0;
}
