// SPDX-License-Identifier: Apache-2.0
#include <catch2/catch.hpp>

#include <deque>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "test/unit/wire/terms.hpp"
#include "vm/dist/wire/wire.hpp"
#include "vm/heap/literal.hpp"
#include "vm/term/compare.hpp"
#include "vm/term/external_atoms.hpp"

using namespace vmrun;
using namespace vmrun::dist;

namespace {

constexpr Flags kCache = flag::kDistHdrAtomCache, kBoth = kCache | flag::kFragments;

using Bytes = std::vector<std::uint8_t>;

Bytes bytes_of(const Packet& packet) {
  Bytes bytes;
  for (const BinaryPart& p : packet.parts) bytes.insert(bytes.end(), p.data(), p.data() + p.size());
  CHECK(bytes.size() == packet.bytes);
  return bytes;
}

Bytes bytes_of(std::initializer_list<int> bytes, const std::string& text = "") {
  Bytes b(bytes.begin(), bytes.end());
  b.insert(b.end(), text.begin(), text.end());
  return b;
}

/// What a node hands to its Input: sometimes bytes in a Binary, sometimes others.
Taken take(Input& input, const Bytes& bytes, bool in_binary) {
  if (!in_binary) return input.take(bytes.data(), bytes.size(), nullptr);
  Binary* b = Binary::create(bytes.size() + 7);
  std::copy(bytes.begin(), bytes.end(), b->data + 7);
  const Taken taken = input.take(b->data + 7, bytes.size(), b);
  b->release();
  return taken;
}

struct FreeFragment {
  void operator()(Fragment* f) const { Fragment::destroy(f); }
};
using Kept = std::unique_ptr<Fragment, FreeFragment>;

Kept decoded(Input& input) {
  const DecodedPayload d = decode_payload(input.payload(), 3);
  INFO((d.error ? d.error : ""));
  REQUIRE(d.fragment);
  CHECK(d.fragment->capacity_words - d.fragment->used_words >= 3);
  return Kept(d.fragment);
}

/// A control message of the usual size: {Operation, Number, Name}.
Term control_term(Heap& heap, int number) {
  Term* hp = heap.alloc(4);
  return make_tuple(hp, Term::small(22), Term::small(number), atoms::ok);
}

/// What a node's process hands to its OutputQueue.
void push(OutputQueue& out, Heap& heap, int number, Word sender, Word serial, Term payload) {
  auto m = encode_message(control_term(heap, number), payload, kBoth, INT64_MAX).message;
  m->sender = sender;
  m->serial = serial;
  out.push(std::move(m));
}

}  // namespace

TEST_CASE("messages of all kinds of terms arrive as they were sent, in any order of fragments") {
  init_literal_area();
  const Flags flags = GENERATE(Flags{0}, kCache, kBoth, flag::kFragments + 0);
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    INFO("flags " << flags << " seed " << seed);
    Arena heap;
    test::SentTerms terms(heap, seed);
    OutputQueue out(flags);
    Input in(flags);
    std::vector<Term> sent;
    std::vector<int> last_of(4, -1);
    std::size_t arrived = 0;
    const auto receive = [&] {
      Packet packet;
      REQUIRE(out.next_packet(&packet));
      const Taken taken = take(in, bytes_of(packet), terms.below(2));
      INFO((taken == Taken::kBad ? in.reason() : ""));
      REQUIRE((taken == Taken::kMessage || (taken == Taken::kMore && (flags & flag::kFragments))));
      if (taken == Taken::kMore) return;
      ++arrived;
      const int number = static_cast<int>(in.control().element(1).small_value());
      CHECK(in.control().element(2) == atoms::ok);
      CHECK(last_of[static_cast<std::size_t>(number) % 4] < number);  // order per sender
      last_of[static_cast<std::size_t>(number) % 4] = number;
      const Term expected = sent[static_cast<std::size_t>(number)];
      if (!expected) {
        CHECK(in.payload().empty());
        return;
      }
      const Kept got = decoded(in);
      CHECK(equal_exact(got->message, expected));
    };
    for (int i = 0; i < 40; ++i) {
      const Term payload = terms.below(6) == 0   ? kNonValue
                           : terms.below(6) == 0 ? terms.binary(terms.below(400000))
                                                 : terms.term(5);
      sent.push_back(payload);
      auto m = encode_message(control_term(heap, i), payload, terms.below(3) ? flags : 0, INT64_MAX).message;
      REQUIRE(m);
      m->sender = static_cast<Word>(i % 4);
      out.push(std::move(m));
      if (terms.below(3) == 0 && !out.empty()) receive();
    }
    while (!out.empty()) receive();
    CHECK(arrived == sent.size());
    CHECK(out.bytes() == 0);
    CHECK(in.open_sequences() == 0);
  }
}

TEST_CASE("what a sender has pushed has gone out when its last fragment has") {
  init_literal_area();
  Arena heap;
  test::SentTerms terms(heap, 1);
  OutputQueue out(kBoth);
  push(out, heap, 0, 7, 1, terms.binary(100000));
  push(out, heap, 1, 7, 2, atoms::ok);
  push(out, heap, 2, 8, 3, atoms::ok);
  Packet packet;
  CHECK_FALSE(out.is_amid_large());
  REQUIRE(out.next_packet(&packet));  // the first fragment
  CHECK(out.is_amid_large());
  CHECK_FALSE(out.has_sent(8, 3));
  REQUIRE(out.next_packet(&packet));  // the third message; the second stays behind the first
  CHECK(out.has_sent(8, 3));
  CHECK_FALSE(out.has_sent(7, 2));
  REQUIRE(out.next_packet(&packet));  // the last fragment
  CHECK_FALSE(out.is_amid_large());
  REQUIRE(out.next_packet(&packet));
  CHECK(out.has_sent(7, 2));
  CHECK_FALSE(out.has_sent(8, 4));
  CHECK(out.empty());
}

TEST_CASE("small messages of others do not wait for a large one, those of its sender do") {
  init_literal_area();
  Arena heap;
  test::SentTerms terms(heap, 1);
  OutputQueue out(kBoth);
  push(out, heap, 0, 7, 1, terms.binary(1000000));
  push(out, heap, 1, 7, 2, atoms::ok);
  push(out, heap, 2, 8, 3, atoms::ok);
  push(out, heap, 3, 8, 4, atoms::ok);
  Input in(kBoth);
  std::vector<int> order;
  for (Packet packet; out.next_packet(&packet);)
    if (take(in, bytes_of(packet), false) == Taken::kMessage)
      order.push_back(static_cast<int>(in.control().element(1).small_value()));
  CHECK(order == std::vector<int>{2, 3, 0, 1});
}

TEST_CASE("large binaries go out without a copy") {
  init_literal_area();
  Arena heap;
  test::SentTerms terms(heap, 1);
  const Term binary = terms.binary(1000), part = make_part(heap, binary, 80, 4003);
  Term* hp = heap.alloc(3);
  const Term both = make_tuple(hp, part, binary);
  const auto m = encode_message(control_term(heap, 1), both, kCache, INT64_MAX).message;
  OutputCache cache(kCache);
  Packet packet;
  CHECK_FALSE(cache.next_packet(*m, &packet));
  REQUIRE(packet.parts.size() == 4);
  CHECK(packet.parts[1].data() == bits_of(binary).bytes() + 10);
  CHECK(packet.parts[3].data() == bits_of(binary).bytes());
}

TEST_CASE("a header names an atom once, and each later time by its place") {
  init_literal_area();
  Arena heap;
  OutputCache cache(kCache);
  const Term atom = intern_atom("a_new_atom");
  const unsigned place = AtomReferences::place_of(atom);
  const auto packet_of = [&] {
    Term* hp = heap.alloc(2);
    const auto m = encode_message(make_tuple(hp, atom), kNonValue, kCache, INT64_MAX).message;
    Packet packet;
    CHECK_FALSE(cache.next_packet(*m, &packet));
    return bytes_of(packet);
  };
  const int segment = static_cast<int>(place / 256), inside = static_cast<int>(place % 256);
  Bytes first = bytes_of({131, 68, 1, 8 | segment, inside, 10}, "a_new_atom");
  const Bytes term = bytes_of({104, 1, 82, 0});
  first.insert(first.end(), term.begin(), term.end());
  CHECK(packet_of() == first);
  CHECK(packet_of() == bytes_of({131, 68, 1, segment, inside, 104, 1, 82, 0}));
}

TEST_CASE("atoms beyond 255, and those whose place is taken, stand in the term") {
  init_literal_area();
  Arena heap;
  Term list = Term::nil();
  std::vector<Term> atoms_sent;
  for (int i = 0; i < 5000; ++i) {
    Term* hp = heap.alloc(2);
    list = make_cons(hp, intern_atom("many_" + std::to_string(i)), list);
  }
  OutputCache cache(kBoth);
  Input in(kBoth);
  for (int round = 0; round < 3; ++round) {
    const auto m = encode_message(control_term(heap, 1), list, kBoth, INT64_MAX).message;
    Taken taken = Taken::kMore;
    for (bool more = true; more;) {
      Packet packet;
      more = cache.next_packet(*m, &packet);
      taken = take(in, bytes_of(packet), true);
    }
    REQUIRE(taken == Taken::kMessage);
    CHECK(equal_exact(decoded(in)->message, list));
  }
}

TEST_CASE("encoding leaves off when it would take more steps") {
  init_literal_area();
  Arena heap;
  test::SentTerms terms(heap, 3);
  Term list = Term::nil();
  for (int i = 0; i < 10000; ++i) {
    Term* hp = heap.alloc(2);
    list = make_cons(hp, Term::small(i), list);
  }
  CHECK(encode_message(control_term(heap, 1), list, kBoth, 5000).how == Encoded::kMoreSteps);
  CHECK(encode_message(control_term(heap, 1), list, kBoth, 50000).message);
}

TEST_CASE("bad packets are refused with a reason") {
  init_literal_area();
  const auto reason = [](std::vector<Bytes> packets, Flags flags = kBoth) -> std::string {
    Input in(flags);
    for (const Bytes& b : packets) {
      const Taken taken = take(in, b, true);
      if (taken == Taken::kBad) return in.reason();
      if (taken == Taken::kMessage && !in.payload().empty()) {
        const DecodedPayload d = decode_payload(in.payload(), 0);
        if (d.error) return d.error;
        Fragment::destroy(d.fragment);
      }
    }
    return "";
  };
  const auto fragment = [](int kind, int sequence, int number, Bytes rest) {
    Bytes b = bytes_of({131, kind, 0, 0, 0, 0, 0, 0, 0, sequence, 0, 0, 0, 0, 0, 0, 0, number});
    b.insert(b.end(), rest.begin(), rest.end());
    return b;
  };
  const Bytes control = bytes_of({0, 104, 1, 97, 1});
  CHECK(reason({bytes_of({131, 68, 0, 104, 1, 97, 1})}) == "");
  CHECK(reason({bytes_of({})}) == "");
  CHECK(reason({bytes_of({131})}) == "a packet that ends in the middle of its header");
  CHECK(reason({bytes_of({112, 131, 104, 1, 97, 1})}) == "a packet that does not begin with 131");
  CHECK(reason({bytes_of({131, 99})}) == "an unknown kind of packet");
  CHECK(reason({bytes_of({131, 68})}) == "a packet that ends in the middle of its header");
  CHECK(reason({bytes_of({131, 68, 3, 0x88})}) == "a packet that ends in the middle of its header");
  CHECK(reason({bytes_of({131, 68, 1, 8, 0, 5, 'a'})}) == "a packet that ends in the middle of its header");
  CHECK(reason({bytes_of({131, 68, 1, 8, 0, 1, 0xFF})}) == "an atom that is not UTF-8");
  CHECK(reason({bytes_of({131, 68, 1, 0, 9, 104, 1, 82, 0})}) == "an atom that is not in the cache");
  CHECK(reason({bytes_of({131, 68, 0, 104, 1, 82, 0})}) == "an atom that the header does not have");
  CHECK(reason({bytes_of({131, 68, 0, 97, 1})}) == "a control message that is no tuple");
  CHECK(reason({bytes_of({131, 68, 0})}) == "ends in the middle of a term");
  CHECK(reason({bytes_of({131, 68, 0, 104, 1, 97, 1, 250})}) == "an unknown tag");
  CHECK(reason({bytes_of({131, 68, 0, 104, 1, 97, 1, 97, 1, 97})}) == "bytes behind the message's last term");
  CHECK(reason({bytes_of({131, 68, 0, 104, 1, 108, 255, 255, 255, 255, 97})}) == "more elements than data");
  CHECK(reason({fragment('F', 1, 1, {})}) == "a fragment of a message that has not begun");
  CHECK(reason({fragment('E', 1, 0, control)}) == "a fragment with the number 0");
  CHECK(reason({fragment('E', 1, 3, control), fragment('F', 1, 1, {})}) == "a fragment out of order");
  CHECK(reason({fragment('E', 1, 3, control), fragment('E', 1, 3, control)}) ==
        "a message begins in the middle of another");
  CHECK(reason({fragment('E', 1, 2, {0, 104, 1, 97})}) == "ends in the middle of a term");
  CHECK(reason({fragment('E', 1, 2, control), fragment('F', 1, 1, {97, 3})}) == "");
  CHECK(reason({bytes_of({131, 68, 0})}, 0) == "an unknown kind of packet");
  CHECK(reason({bytes_of({112, 104, 1, 97, 1})}, 0) == "a term that does not begin with 131");
  CHECK(reason({bytes_of({112, 131, 104, 1, 97, 1, 97, 1})}, 0) == "a term that does not begin with 131");
  CHECK(reason({bytes_of({112, 131, 104, 1, 97, 1, 131, 97, 1})}, 0) == "");
}

TEST_CASE("names within names of nodes do not deepen the stack") {
  init_literal_area();
  Bytes deep = bytes_of({131, 68, 0});
  deep.insert(deep.end(), 1000000, 88);
  Input in(kCache);
  CHECK(take(in, deep, false) == Taken::kBad);
  CHECK(in.reason() == std::string("an atom was expected"));
}

TEST_CASE("the table of flags says what a stock node's get_dflags says") {
  CHECK(flags_that_are(kOurs, 25) == 55966662588u);
  CHECK(flags_that_are(kOurs, 27) == 55966662588u);
  CHECK((flags_that_are(kOurs, 29) | Flags{1} << 38) == 468283523004u);  // NATIVE_RECORDS
  CHECK(flags_that_are(kMandatory, 25) == 17239956u);
  for (const int release : {27, 29}) CHECK(flags_that_are(kMandatory, release) == 17230663572u);
  for (const int release : {25, 27, 29}) {
    CHECK(flags_that_are(kRejectable, release) == 8396866u);
    CHECK(flags_that_are(kStrictOrder, release) == 8192u);
  }
}

TEST_CASE("after a bad packet all are bad") {
  init_literal_area();
  Input in(kCache);
  CHECK(take(in, bytes_of({131, 99}), true) == Taken::kBad);
  CHECK(take(in, bytes_of({131, 68, 0, 104, 1, 97, 1}), true) == Taken::kBad);
  CHECK(take(in, {}, true) == Taken::kBad);
  CHECK(in.reason() == std::string("an unknown kind of packet"));
}
