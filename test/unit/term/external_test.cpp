// SPDX-License-Identifier: Apache-2.0
#include <catch2/catch.hpp>

#include <initializer_list>
#include <random>
#include <string>
#include <vector>

#include "vm/heap/literal.hpp"
#include "vm/term/atom.hpp"
#include "vm/term/compare.hpp"
#include "vm/term/external.hpp"
#include "vm/term/print.hpp"

using namespace vmrun;

namespace {

Decoded decode(Heap& h, const std::vector<std::uint8_t>& bytes, DecodeOptions o = {}) {
  return decode_external(h, bytes.data(), bytes.size(), o);
}
Decoded decode_text(Heap& h, const std::string& bytes) {
  return decode_external(h, reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size());
}

}  // namespace

TEST_CASE("a term of any depth goes out and comes back") {
  init_literal_area();
  Arena h;
  Term deep = Term::nil();
  for (int i = 0; i < 300000; ++i) {
    Term* hp = h.alloc(4);
    if (i % 2) deep = make_cons(hp, deep, Term::nil());
    else deep = make_tuple(hp, Term::small(i), deep);
  }
  const std::string bytes = encode_external(deep);
  const Decoded d = decode_text(h, bytes);
  REQUIRE(d.term);
  CHECK(d.used_bytes == bytes.size());
  CHECK(encode_external(d.term) == bytes);
}

TEST_CASE("a binary of 4 GiB is too large for the format, one byte less is not") {
  init_literal_area();
  Arena h;
  // Only its size is looked at: its bytes are not there.
  const auto encode = [&h](Word size, bool insert) {
    Term* hp = h.alloc(3);
    Term* object = h.alloc(sizeof(RefcBinary) / sizeof(Term));
    const Term t = make_tuple(hp, atoms::ok, Term::boxed(object));
    auto& binary = *new (object) RefcBinary{};
    binary.header = Term::header(Term::Sub::kRefcBinary, sizeof(RefcBinary) / sizeof(Term) - 1);
    binary.size_bytes = size;
    EncodeOptions how;
    how.insert_binaries = insert;
    ExternalBytes bytes;
    SWord steps = 1000;
    return encode_external_within(&steps, t, how, &bytes);
  };
  CHECK(encode(Word{1} << 32, true) == Encoded::kTooLarge);
  CHECK(encode(Word{1} << 32, false) == Encoded::kTooLarge);
  CHECK(encode((Word{1} << 32) - 1, true) == Encoded::kWhole);
  CHECK(encode((Word{1} << 32) - 1, false) == Encoded::kMoreSteps);
}

TEST_CASE("whether a term takes few words is known from its beginning") {
  init_literal_area();
  const auto takes_few = [](const std::string& bytes, Word most) {
    return takes_few_words(reinterpret_cast<const std::uint8_t*>(bytes.data()) + 1, bytes.size() - 1, most);
  };
  Arena h;
  Term list = Term::nil();
  for (int i = 0; i < 1000; ++i) {
    Term* hp = h.alloc(2);
    list = make_cons(hp, Term::small(i + 1000), list);
  }
  const std::string of_1000 = encode_external(list);
  CHECK(takes_few(of_1000, 2000));
  CHECK_FALSE(takes_few(of_1000, 1999));
  // What comes behind so many words is not looked at.
  CHECK_FALSE(takes_few(of_1000.substr(0, of_1000.size() / 2), 500));
  // Its own bytes do not count.
  std::string binary("\x83m\x00\x10\x00\x00", 6);
  binary.resize(binary.size() + (1 << 20));
  CHECK(takes_few(binary, 100));
  CHECK(takes_few("\x83\xFF", 100));
}

TEST_CASE("lengths that lie cost nothing and fail") {
  init_literal_area();
  Arena h;
  using Bytes = std::vector<std::uint8_t>;
  for (const Bytes& b : {Bytes{131, 108, 255, 255, 255, 255, 106}, Bytes{131, 105, 127, 255, 255, 255},
                         Bytes{131, 116, 255, 255, 255, 255, 97, 1}, Bytes{131, 109, 255, 255, 255, 255, 1},
                         Bytes{131, 111, 255, 255, 255, 255, 0}, Bytes{131, 80, 255, 255, 255, 255, 120, 156},
                         Bytes{131, 119, 200, 97}, Bytes{131, 107, 255, 255, 97}, Bytes{131}, Bytes{},
                         Bytes{130, 97, 1}, Bytes{131, 70, 1, 2}}) {
    const Decoded d = decode(h, b);
    CHECK_FALSE(d.term);
    CHECK(d.error != nullptr);
  }
}

TEST_CASE("safe decoding makes no atoms") {
  init_literal_area();
  Arena h;
  DecodeOptions safe;
  safe.safe = true;
  CHECK_FALSE(decode(h, {131, 119, 6, 'n', 'o', 'v', 'e', 'l', '1'}, safe).term);
  CHECK(decode(h, {131, 119, 6, 'n', 'o', 'v', 'e', 'l', '1'}).term);
  CHECK(decode(h, {131, 119, 6, 'n', 'o', 'v', 'e', 'l', '1'}, safe).term == intern_atom("novel1"));
}

TEST_CASE("identifiers of other nodes come back as they were") {
  init_literal_area();
  Arena h;
  const std::vector<std::uint8_t> pid{131, 88, 100, 0, 3, 'a', '@', 'b', 0, 0, 0, 9, 0, 0, 0, 1, 0, 0, 0, 5};
  const std::vector<std::uint8_t> ref{131, 90, 0, 3, 100, 0, 3, 'a', '@', 'b', 0, 0, 0,
                                      5,   0,  0, 0, 9,   0, 0, 0,   8,   0,   0, 0, 7};
  const std::vector<std::uint8_t> port{131, 120, 100, 0, 3, 'a', '@', 'b', 0, 0,
                                       0,   5,   0,   0, 0, 9,   0,   0,   0, 8};
  for (const auto& bytes : {pid, ref, port}) {
    const Decoded d = decode(h, bytes);
    REQUIRE(d.term);
    CHECK(encode_external(d.term, {.minor_version = 1}) == std::string(bytes.begin(), bytes.end()));
    CHECK(equal_exact(d.term, decode(h, bytes).term));
  }
}

TEST_CASE("random bytes and spoiled terms never crash the decoder") {
  init_literal_area();
  std::mt19937 random(11);
  const std::vector<std::uint8_t> tags{70,  77,  80,  88,  89,  90,  97,  98,  99,  100,
                                       101, 102, 103, 104, 105, 106, 107, 108, 109, 110,
                                       111, 112, 113, 114, 115, 116, 118, 119, 120};
  for (int i = 0; i < 30000; ++i) {
    Arena h;
    std::vector<std::uint8_t> bytes{131};
    const auto n = random() % 60;
    for (unsigned j = 0; j < n; ++j) {
      switch (random() % 3) {
        case 0: bytes.push_back(tags[random() % tags.size()]); break;
        case 1: bytes.push_back(static_cast<std::uint8_t>(random() % 4)); break;
        default: bytes.push_back(static_cast<std::uint8_t>(random())); break;
      }
    }
    const Decoded d = decode(h, bytes);
    CHECK(d.term.is_value() == (d.error == nullptr));
    CHECK(d.used_bytes <= bytes.size());
    if (d.term) CHECK(decode_text(h, encode_external(d.term)).term);
  }
}
