// SPDX-License-Identifier: Apache-2.0
#include <zlib.h>
#include <catch2/catch.hpp>

#include <cstdlib>
#include <fstream>
#include <map>
#include <memory>
#include <sstream>
#include <string>
#include <vector>

#include "vm/dist/wire/wire.hpp"
#include "vm/heap/literal.hpp"
#include "vm/term/bits.hpp"
#include "vm/term/compare.hpp"
#include "vm/term/external.hpp"

// What a stock erl 25 sends, captured by test/nodes/capture.py.
using namespace vmrun;
using namespace vmrun::dist;

namespace {

using Bytes = std::vector<std::uint8_t>;

Bytes from_hex(const std::string& hex) {
  Bytes bytes;
  for (std::size_t i = 0; i + 1 < hex.size(); i += 2)
    bytes.push_back(static_cast<std::uint8_t>(std::stoi(hex.substr(i, 2), nullptr, 16)));
  return bytes;
}

/// "SIZE:COMPRESSED,SIZE:COMPRESSED…"
std::vector<Bytes> packets_of(const std::string& text) {
  std::vector<Bytes> packets;
  std::istringstream in(text);
  for (std::string packet; std::getline(in, packet, ',');) {
    const auto colon = packet.find(':');
    uLongf size = std::stoul(packet);
    Bytes bytes(size);
    const Bytes packed = from_hex(packet.substr(colon + 1));
    REQUIRE(uncompress(bytes.data(), &size, packed.data(), packed.size()) == Z_OK);
    packets.push_back(std::move(bytes));
  }
  return packets;
}

struct Line {
  Flags flags;
  std::string expression;
  std::vector<Bytes> message, plain;
};

std::vector<Line> stock_lines() {
  const char* root = std::getenv("SOURCE_ROOT");
  std::ifstream file(std::string(root ? root : ".") + "/test/unit/wire/stock.txt");
  std::vector<Line> lines;
  for (std::string text; std::getline(file, text);) {
    std::istringstream in(text);
    std::string fields[4];
    for (auto& f : fields) std::getline(in, f, '\t');
    lines.push_back(
        {std::stoull(fields[0], nullptr, 16), fields[1], packets_of(fields[2]), packets_of(fields[3])});
  }
  REQUIRE(lines.size() > 100);
  return lines;
}

struct FreeReceived {
  void operator()(Fragment* f) const { Fragment::destroy(f); }
};
using Received = std::unique_ptr<Fragment, FreeReceived>;

Received received(Input& in, const std::vector<Bytes>& packets) {
  Taken taken = Taken::kTick;
  for (const Bytes& p : packets) {
    CHECK(taken != Taken::kMessage);
    taken = in.take(p.data(), p.size(), nullptr);
    INFO((taken == Taken::kBad ? in.reason() : ""));
    REQUIRE(taken != Taken::kBad);
  }
  REQUIRE(taken == Taken::kMessage);
  const DecodedPayload d = decode_payload(in.payload(), 0);
  INFO((d.error ? d.error : ""));
  REQUIRE(d.fragment);
  return Received(d.fragment);
}

/// Keys are in another order in our large maps, and who made a fun of another node is not kept.
bool has_bytes_of_its_own(const std::string& expression) {
  return expression.starts_with("maps:from_list") || expression.starts_with("fun(");
}

}  // namespace

TEST_CASE("what a stock node sends is read as its term_to_binary says, whatever the connection's flags") {
  init_literal_area();
  std::map<Flags, Input> inputs;
  for (const Line& line : stock_lines()) {
    INFO(line.expression << " with flags " << line.flags);
    Input& in = inputs.try_emplace(line.flags, line.flags).first->second;
    const Received message = received(in, line.message);
    const Term control = in.control();
    CHECK(control.tuple_arity() == 3);  // {22, From, To}
    CHECK(control.element(0) == Term::small(22));
    const Received plain = received(in, line.plain);
    const BytesOf bytes(plain->message);
    Arena heap;
    const Decoded expected = decode_external(heap, bytes.data(), bytes.size());
    REQUIRE(expected.term);
    CHECK(equal_exact(message->message, expected.term));
  }
}

TEST_CASE("without an atom cache, we send byte for byte what a stock node sends") {
  init_literal_area();
  int compared = 0;
  for (const Line& line : stock_lines()) {
    if ((line.flags & flag::kDistHdrAtomCache) || has_bytes_of_its_own(line.expression)) continue;
    INFO(line.expression << " with flags " << line.flags);
    Input in(line.flags);
    const Received payload = received(in, line.message);
    const auto m = encode_message(in.control(), payload->message, line.flags, INT64_MAX).message;
    REQUIRE(m);
    OutputCache out(line.flags);
    std::size_t i = 0;
    for (bool more = true; more; ++i) {
      Packet packet;
      more = out.next_packet(*m, &packet);
      Bytes ours;
      for (const BinaryPart& p : packet.parts) ours.insert(ours.end(), p.data(), p.data() + p.size());
      REQUIRE(i < line.message.size());
      Bytes theirs = line.message[i];
      // Numbers of sequences are any.
      if (theirs[1] == 'E' || theirs[1] == 'F')
        std::copy(theirs.begin() + 2, theirs.begin() + 10, ours.begin() + 2);
      CHECK(ours.size() == theirs.size());
      CHECK((ours == theirs));
    }
    CHECK(i == line.message.size());
    ++compared;
  }
  CHECK(compared > 80);
}
