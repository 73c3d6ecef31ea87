// SPDX-License-Identifier: Apache-2.0
#include <catch2/catch.hpp>

#include <cstring>

#include "test/unit/heap/random_terms.hpp"
#include "vm/base/release.hpp"
#include "vm/heap/copy.hpp"
#include "vm/probes/texts.hpp"
#include "vm/term/bits.hpp"
#include "vm/term/compare.hpp"
#include "vm/term/hash.hpp"
#include "vm/term/print.hpp"

using namespace vmrun;
using namespace vmrun::test;

namespace {

int sign(int c) { return (c > 0) - (c < 0); }

Term number(Heap& heap, double d) {
  Term* hp = heap.alloc(2);
  return make_float(hp, d);
}
template <class... T>
Term tuple(Heap& heap, T... t) {
  Term* hp = heap.alloc(1 + sizeof...(T));
  return make_tuple(hp, t...);
}
Term list(Heap& heap, std::initializer_list<Term> elements, Term tail = Term::nil()) {
  for (auto it = std::rbegin(elements); it != std::rend(elements); ++it) {
    Term* hp = heap.alloc(2);
    tail = make_cons(hp, *it, tail);
  }
  return tail;
}
Term text(Heap& heap, std::string_view s) {
  Term t = Term::nil();
  for (std::size_t i = s.size(); i-- > 0;) t = list(heap, {Term::small(static_cast<unsigned char>(s[i]))}, t);
  return t;
}
Term bytes(Heap& heap, std::string_view s) {
  const Word words = words_for_bytes(s.size());
  Term* p = heap.alloc(2 + words);
  p[0] = Term::header(Term::Sub::kHeapBinary, 1 + words);
  p[1] = Term::from_raw(s.size());
  std::memcpy(static_cast<void*>(p + 2), s.data(), s.size());
  return Term::boxed(p);
}
Term atom(const char* s) { return intern_atom(s); }

}  // namespace

TEST_CASE("Terms of different kinds stand in the term order") {
  Heap h;
  const Term ascending[] = {number(h, -1e300),
                            Term::small(Term::kSmallMin),
                            Term::small(-1),
                            Term::small(0),
                            number(h, 0.5),
                            Term::small(1),
                            number(h, 1e30),
                            atom("a"),
                            atom("b"),
                            atom("ba"),
                            atom("\u00e9"),
                            Term::port(3),
                            Term::pid(2),
                            Term::pid(3),
                            empty_tuple(),
                            tuple(h, Term::small(9)),
                            tuple(h, Term::small(1), Term::small(1)),
                            tuple(h, Term::small(1), number(h, 1.5)),
                            Term::nil(),
                            list(h, {Term::small(1)}),
                            list(h, {Term::small(1), Term::small(0)}),
                            list(h, {Term::small(2)}),
                            bytes(h, ""),
                            bytes(h, "a"),
                            bytes(h, "aa"),
                            bytes(h, "b")};
  const std::size_t n = std::size(ascending);
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t j = 0; j < n; ++j) {
      INFO(term_text(ascending[i]) << " and " << term_text(ascending[j]));
      CHECK(sign(compare(ascending[i], ascending[j])) == (i < j ? -1 : i > j));
      CHECK(equal(ascending[i], ascending[j]) == (i == j));
    }
  }
}

TEST_CASE("Integers and floats compare as the numbers they are") {
  Heap h;
  const Term one = Term::small(1), one_float = number(h, 1.0);
  CHECK(equal(one, one_float));
  CHECK_FALSE(equal_exact(one, one_float));
  CHECK(compare(one, one_float) == 0);
  CHECK(compare_keys(one, one_float) < 0);
  CHECK(compare_keys(Term::small(5), one_float) < 0);
  // 2^53 + 1 has no double of its own.
  CHECK(compare(Term::small((SWord{1} << 53) + 1), number(h, 9007199254740992.0)) > 0);
  CHECK(equal(tuple(h, one), tuple(h, one_float)));
  CHECK_FALSE(equal_exact(tuple(h, one), tuple(h, one_float)));
  // The two zeros are two terms since OTP 27.
  const Term zero = number(h, 0.0), negative = number(h, -0.0);
  CHECK(equal(zero, negative));
  CHECK_FALSE(equal_exact(zero, negative));
  CHECK(compare(zero, negative) == 0);
  CHECK(compare_keys(negative, zero) < 0);
  use_release(26, false);
  CHECK(equal_exact(zero, negative));
  CHECK(hash_term(zero) == hash_term(negative));
  use_release(kNewestRelease, false);
}

TEST_CASE("A copy is equal to its source, hashes alike, and compares consistently with any other term") {
  Heap h;
  std::vector<Term> terms;
  for (std::uint64_t seed = 1; seed <= 150; ++seed) {
    const Term t = RandomTerms(seed).term(h, 5);
    Heap other;
    const Term copy = copy_to(other, t);
    REQUIRE(equal_exact(t, copy));
    REQUIRE(equal(t, copy));
    REQUIRE(compare(t, copy) == 0);
    REQUIRE(hash_term(t) == hash_term(copy));
    REQUIRE(hash_term(t, 7) == hash_term(copy, 7));
    terms.push_back(t);
  }
  for (Term a : terms) {
    for (Term b : terms) {
      REQUIRE(sign(compare(a, b)) == -sign(compare(b, a)));
      REQUIRE((compare(a, b) == 0) == equal(a, b));
      REQUIRE((compare_keys(a, b) == 0) == equal_exact(a, b));
      if (equal_exact(a, b)) {
        REQUIRE(hash_term(a) == hash_term(b));
      } else {
        REQUIRE(hash_term(a) != hash_term(b));
      }
    }
  }
}

TEST_CASE("Depth is no limit to comparison and hashing") {
  Heap h;
  Term a = Term::nil(), b = Term::nil();
  for (int i = 0; i < 500000; ++i) {
    a = i % 2 ? tuple(h, a) : list(h, {a});
    b = i % 2 ? tuple(h, b) : list(h, {b});
  }
  CHECK(equal_exact(a, b));
  CHECK(compare(a, b) == 0);
  CHECK(hash_term(a) == hash_term(b));
}

TEST_CASE("Terms are written as the probe contract says") {
  Heap h;
  const auto written = [](Term t) { return std::string(probe::TermText<255>(t)); };
  CHECK(written(tuple(h, atom("a"), text(h, "b"), number(h, 1.5), bytes(h, "bin"))) ==
        "{a,\"b\",1.500000e+00,<<\"bin\">>}");
  CHECK(written(atom("A b")) == "'A b'");
  CHECK(written(atom("it's")) == "'it\\'s'");
  CHECK(written(atom("")) == "''");
  CHECK(written(atom("case")) == "case");
  CHECK(written(atom("caf\u00e9_1")) == "caf\u00e9_1");
  CHECK(written(atom("a@b")) == "'a@b'");
  CHECK(written(list(h, {Term::small(1), Term::small(2)}, Term::small(3))) == "[1,2|3]");
  CHECK(written(Term::nil()) == "[]");
  CHECK(written(text(h, "say \"x\"\n")) == "\"say \\\"x\\\"\\n\"");
  CHECK(written(text(h, "\xe9")) == "\"\u00e9\"");
  CHECK(written(bytes(h, std::string_view("\0\1", 2))) == "<<0,1>>");
  CHECK(written(bytes(h, "")) == "<<>>");
  CHECK(written(bytes(h, "a\nb")) == "<<97,10,98>>");
  CHECK(written(Term::pid(Word{5} | Word{2} << pid_number_bits())) == "<0.5.2>");
  CHECK(written(Term::port(4)) == "#Port<0.4>");
  Term* p = h.alloc(3);
  p[0] = Term::header(Term::Sub::kNegBig, 2);
  p[1] = Term::from_raw(0);
  p[2] = Term::from_raw(1);
  CHECK(written(Term::boxed(p)) == "-18446744073709551616");
  const auto function = [](Term m, Term f, unsigned arity) {
    return std::string(probe::FunctionText({m, f, arity}));
  };
  CHECK(function(atom("m"), atom("F"), 3) == "m:'F'/3");
  CHECK(function(atom("lists"), atom("foldl_2"), 255) == "lists:foldl_2/255");
  const std::string name(250, 'n');  // the slash and the arity do not fit any more
  CHECK(function(atom("mod"), atom(name.c_str()), 1) == "mod:" + name + "/");
  CHECK(function(kNonValue, kNonValue, 0) == "<exiting>");
  const auto process = [](Term t) { return std::string(probe::PidText(t, "absent")); };
  CHECK(process(Term::pid(Word{5} | Word{2} << pid_number_bits())) == "<0.5.2>");
  CHECK(process(Term::port(4)) == "#Port<0.4>");
  CHECK(process(kNonValue) == "absent");
  CHECK(probe::saturated<int>(std::int64_t{1} << 40) == 0x7FFFFFFF);
  CHECK(probe::saturated<int>(-(std::int64_t{1} << 40)) == -0x7FFFFFFF - 1);
  CHECK(probe::saturated<std::uint32_t>(std::uint64_t{1} << 40) == 0xFFFFFFFF);
}

TEST_CASE("Text is cut at the buffer, never inside a character") {
  Heap h;
  CHECK(std::string(probe::TermText<6>(text(h, "abcdefgh"))) == "\"abcd");
  CHECK(std::string(probe::TermText<4>(atom("ab\u00e9"))) == "ab");
  CHECK(std::string(probe::TermText<5>(atom("ab\u00e9"))) == "ab\u00e9");
  Term deep = Term::nil();
  for (int i = 0; i < 1000000; ++i) deep = tuple(h, deep);
  CHECK(std::string(probe::TermText<255>(deep)).size() == 254);
  CHECK(term_text(deep).size() < 1000);
}

TEST_CASE("phash2 gives the numbers every Erlang gives") {
  Heap h;
  const auto in_default_range = [](Term t) { return portable_hash2(t) & ((1 << 27) - 1); };
  CHECK(in_default_range(atom("a")) == 97);
  CHECK(in_default_range(Term::small(1)) == 2614250);
  CHECK(in_default_range(Term::small(-1)) == 44071773);
  CHECK(in_default_range(text(h, "abc")) == 117343302);
  CHECK(in_default_range(bytes(h, "abc")) == 98228475);
  CHECK(in_default_range(tuple(h, Term::small(1), Term::small(2))) == 91564110);
  CHECK(in_default_range(Term::nil()) == 113427502);
  CHECK(portable_hash2(empty_tuple()) == 221703996);
  CHECK(portable_hash2(number(h, -1.0)) == 1043224280);
}

TEST_CASE("phash2 of four gigabytes and more goes by as many bytes as there are more, as OTP's does") {
  Heap h;
  const auto large = [&](Word more) {  // of which nobody reads what is not there
    Binary* b = Binary::create(8);
    std::memcpy(b->data, "abcdefgh", 8);
    return make_refc_binary(h, b, b->data, (Word{1} << 32) + more);
  };
  CHECK(portable_hash2(large(0)) == portable_hash2(bytes(h, "")));
  CHECK(portable_hash2(large(3)) == portable_hash2(bytes(h, "abc")));
  CHECK(portable_hash2(tuple(h, large(8))) == portable_hash2(tuple(h, bytes(h, "abcdefgh"))));
}
