// SPDX-License-Identifier: Apache-2.0
#include <catch2/catch.hpp>

#include <random>
#include <vector>

#include "vm/heap/literal.hpp"
#include "vm/term/atom.hpp"
#include "vm/term/bits_append.hpp"

using namespace vmrun;

namespace {

bool bit_at(const std::vector<std::uint8_t>& v, Word i) { return v[i / 8] >> (7 - i % 8) & 1; }

}  // namespace

TEST_CASE("bits are copied and compared as one by one") {
  std::mt19937 random(3);
  for (int round = 0; round < 3000; ++round) {
    std::vector<std::uint8_t> from(40), to(40);
    for (auto& b : from) b = static_cast<std::uint8_t>(random());
    for (auto& b : to) b = static_cast<std::uint8_t>(random());
    const Word n = random() % 250, s = random() % 60, d = random() % 60;
    auto copy = to;
    copy_bits(copy.data(), d, from.data(), s, n);
    bool good = true;
    for (Word i = 0; i < 320; ++i)
      good = good && bit_at(copy, i) == (i >= d && i < d + n ? bit_at(from, s + i - d) : bit_at(to, i));
    REQUIRE(good);
    CHECK(compare_bits(copy.data(), d, from.data(), s, n) == 0);
    if (n > 0) {
      const Word flip = d + random() % n;
      const bool was = bit_at(copy, flip);
      copy[flip / 8] = static_cast<std::uint8_t>(copy[flip / 8] ^ 0x80 >> flip % 8);
      CHECK((compare_bits(copy.data(), d, from.data(), s, n) < 0) == was);
    }
  }
}

TEST_CASE("a binary to append to has the room that was asked for") {
  init_literal_area();
  Arena h;
  for (const SWord size : {0, 7, 64, 100000}) {
    const auto* s = reinterpret_cast<SubBinary*>(bs_init_writable(h, Term::small(size)).boxed_ptr());
    const auto* r = reinterpret_cast<RefcBinary*>(s->original.boxed_ptr());
    CHECK(r->binary->capacity_bytes == static_cast<Word>(size));
  }
}

TEST_CASE("appending grows one binary in place") {
  init_literal_area();
  Arena h;
  Term t = bs_init_writable(h, Term::small(0));
  BitBuilder b;
  int moved = 0;
  const std::uint8_t* base = nullptr;
  for (int i = 0; i < 100000; ++i) {
    t = bs_append(h, t, 8, 1, &b);
    REQUIRE(b.put_integer(Term::small(i), 8, 0));
    const BitView v = bits_of(t);
    moved += v.base != base;
    base = v.base;
  }
  CHECK(moved < 12);
  const BitView v = bits_of(t);
  REQUIRE(v.size_bytes() == 100000);
  CHECK(v.bytes()[0] == 0);
  CHECK(v.bytes()[99999] == static_cast<std::uint8_t>(99999));
}

TEST_CASE("two appends to the same binary do not see each other") {
  init_literal_area();
  Arena h;
  BitBuilder b;
  const Term start = bs_append(h, make_binary(h, "abc", 3), 8, 8, &b);
  REQUIRE(b.put_integer(Term::small('d'), 8, 0));
  const Term x = bs_append(h, start, 8, 8, &b);
  REQUIRE(b.put_integer(Term::small('x'), 8, 0));
  const Term y = bs_append(h, start, 8, 8, &b);
  REQUIRE(b.put_integer(Term::small('y'), 8, 0));
  CHECK(compare_bitstrings(x, make_binary(h, "abcdx", 5)) == 0);
  CHECK(compare_bitstrings(y, make_binary(h, "abcdy", 5)) == 0);
  CHECK(compare_bitstrings(start, make_binary(h, "abcd", 4)) == 0);
}

TEST_CASE("a private append works on the same term, however much it grows") {
  init_literal_area();
  Arena h;
  BitBuilder b;
  const Term t = bs_init_writable(h, Term::small(1));
  for (int i = 0; i < 5000; ++i) {
    REQUIRE(bs_append(h, t, 12, 1, &b, Appended::kItself) == t);
    REQUIRE(b.put_integer(Term::small(0xabc), 12, 0));
  }
  CHECK(bits_of(t).size_bits == 60000);
  CHECK(bs_append(h, t, 0, 1, &b, Appended::kItself) == t);
  MatchContext& m = *match_context(bs_start_match(h, t));
  for (int i = 0; i < 5000; ++i) REQUIRE(bs_get_integer(h, m, 12, 0) == Term::small(0xabc));
}

TEST_CASE("a match context keeps its bytes while the binary is appended to") {
  init_literal_area();
  Arena h;
  BitBuilder b;
  Term t = bs_append(h, make_binary(h, "a", 1), 8, 8, &b);
  REQUIRE(b.put_integer(Term::small('b'), 8, 0));
  MatchContext& m = *match_context(bs_start_match(h, t));
  for (int i = 0; i < 5000; ++i) {
    t = bs_append(h, t, 8, 8, &b);
    REQUIRE(b.put_integer(Term::small('z'), 8, 0));
  }
  CHECK(bs_get_integer(h, m, 16, 0) == Term::small('a' << 8 | 'b'));
  CHECK_FALSE(bs_get_integer(h, m, 1, 0));
}

TEST_CASE("bits at the top of a word are those at any place, and no other byte is read") {
  for (Word offset = 0; offset < 24; ++offset) {
    for (Word n = 1; n <= 64; ++n) {
      std::vector<std::uint8_t> bytes;  // ends where the bits end
      for (Word i = 0; i < (offset + n + 7) / 8; ++i)
        bytes.push_back(static_cast<std::uint8_t>(0x9D * (i + 1) ^ i >> 1));
      bytes.shrink_to_fit();
      Word expected = 0;
      for (Word i = offset; i < offset + n; ++i)
        expected = expected << 1 | (bytes[i / 8] >> (7 - i % 8) & 1u);
      REQUIRE(top_bits(bytes.data(), offset, n) >> (64 - n) == expected);
    }
  }
}

TEST_CASE("field sizes") {
  Word bits;
  CHECK(field_bits(Term::small(3), 8, &bits) == FieldSize::kOk);
  CHECK(bits == 24);
  CHECK(field_bits(Term::small(-1), 8, &bits) == FieldSize::kBad);
  CHECK(field_bits(atoms::ok, 8, &bits) == FieldSize::kBad);
  CHECK(field_bits(Term::small(Term::kSmallMax), 256, &bits) == FieldSize::kTooBig);
}

TEST_CASE("parts of parts refer to the whole") {
  init_literal_area();
  Arena h;
  std::string bytes(1000, 'q');
  bytes[500] = 'X';
  const Term whole = make_binary(h, bytes.data(), bytes.size());
  const Term half = make_part(h, whole, 8 * 300, 8 * 600);
  const Term inner = make_part(h, half, 8 * 200, 8 * 100);
  CHECK(reinterpret_cast<SubBinary*>(inner.boxed_ptr())->original == whole);
  CHECK(bits_of(inner).bytes()[0] == 'X');
  CHECK(make_part(h, half, 0, 8 * 600) == half);
}
