// SPDX-License-Identifier: Apache-2.0
// Texts of terms as tracers get them: what they say, and where they are cut.
#include "vm/probes/texts.hpp"

#include <catch2/catch.hpp>

#include <string>

#include "vm/heap/literal.hpp"
#include "vm/term/bits.hpp"
#include "vm/term/pid_numbers.hpp"

using namespace vmrun;
using namespace vmrun::probe;

namespace {

std::string text_of_pid(Term who) {
  const PidText text(who, "absent");
  return std::string(text);
}

std::string function_text(std::string_view module, std::string_view function, unsigned arity) {
  const FunctionText text({intern_atom(module), intern_atom(function), arity});
  return std::string(text);
}

/// "NULL" for what is not shown.
std::string iolist_text(Term t) {
  const IolistText text(t);
  const char* shown = text;
  CHECK((shown != nullptr) == is_shown_iolist(t));
  return shown ? shown : "NULL";
}

Term binary(TermSpace& heap, std::string_view bytes) { return make_binary(heap, bytes.data(), bytes.size()); }

Term cons(TermSpace& heap, Term head, Term tail) {
  Term* cell = heap.alloc(2);
  cell[0] = head;
  cell[1] = tail;
  return Term::list(cell);
}

}  // namespace

TEST_CASE("probes: pids and ports are the numbers they are made of") {
  CHECK(text_of_pid(Term::pid(262)) == "<0.262.0>");
  CHECK(text_of_pid(Term::pid(Word{7} << pid_number_bits() | 262)) == "<0.262.7>");
  CHECK(text_of_pid(Term::pid((Word{1} << 60) - 1)) == "<0.268435455.4294967295>");
  CHECK(text_of_pid(Term::port(5)) == "#Port<0.5>");
  CHECK(text_of_pid(kNonValue) == "absent");
  CHECK(text_of_pid(intern_atom("undefined")) == "undefined");
}

TEST_CASE("probes: functions are module:function/arity, quoted where Erlang quotes") {
  CHECK(function_text("lists", "reverse", 2) == "lists:reverse/2");
  CHECK(function_text("a_B1", "f", 255) == "a_B1:f/255");
  CHECK(function_text("m", "-f/1-fun-0-", 1) == "m:'-f/1-fun-0-'/1");
  CHECK(function_text("Upper", "f", 0) == "'Upper':f/0");
  CHECK(function_text("", "f", 0) == "'':f/0");
  CHECK(function_text("m", "it's", 0) == "m:'it\\'s'/0");
  CHECK(std::string(FunctionText({kNonValue, kNonValue, 0})) == "<exiting>");
}

TEST_CASE("probes: a function's text is cut where its room ends, wherever that is") {
  const std::string rest = ":f/3";
  for (std::size_t length = 225; length <= 255; ++length) {
    const std::string module(length, 'm'), text = function_text(module, "f", 3);
    CHECK(text == (module + rest).substr(0, 255));
  }
  for (std::size_t length = 225; length <= 255; ++length) {
    const std::string function(length, 'f'), text = function_text("m", function, 3);
    CHECK(text == ("m:" + function + "/3").substr(0, 255));
  }
}

TEST_CASE("probes: terms are cut, between characters; the non-value is no text") {
  init_literal_area();
  Arena heap;
  CHECK(static_cast<const char*>(TermText<8>(kNonValue)) == nullptr);
  CHECK(std::string(TermText<8>(intern_atom("abcdefg"))) == "abcdefg");
  CHECK(std::string(TermText<8>(intern_atom("abcdefgh"))) == "abcdefg");
  CHECK(std::string(TermText<8>(intern_atom("\xC3\xA4\xC3\xA4\xC3\xA4\xC3\xA4"))).size() <= 7);
  Term* tuple = heap.alloc(3);
  CHECK(std::string(TermText<32>(make_tuple(tuple, Term::small(-1), Term::nil()))) == "{-1,[]}");
}

TEST_CASE("probes: names of nodes have no quotes, and are cut between characters") {
  const auto name = [](std::string_view node, std::size_t most) {
    return std::string(NodeText(intern_atom(node), most));
  };
  CHECK(name("nonode@nohost", 255) == "nonode@nohost");
  CHECK(name("Big-1@it's", 63) == "Big-1@it's");
  CHECK(name(std::string(63, 'n'), 63) == std::string(63, 'n'));
  CHECK(name(std::string(64, 'n'), 63) == std::string(63, 'n'));
  CHECK(name("a@\xC3\xA4\xC3\xA4", 5) == "a@\xC3\xA4");
}

TEST_CASE("probes: iolists are shown as their bytes up to the longest text") {
  init_literal_area();
  Arena heap;
  CHECK(iolist_text(Term::nil()).empty());
  CHECK(iolist_text(binary(heap, "bytes")) == "bytes");
  const Term nested = cons(heap, cons(heap, Term::small('a'), binary(heap, "bc")),
                           cons(heap, Term::small('d'), binary(heap, "ef")));
  CHECK(iolist_text(nested) == "abcdef");
  const std::string longest(kIolistBytes, 'x'), longer(kIolistBytes + 1, 'x');
  CHECK(iolist_text(binary(heap, longest)) == longest);
  CHECK(iolist_text(binary(heap, longer)) == "NULL");
  CHECK(iolist_text(cons(heap, Term::small('y'), binary(heap, longest))) == "NULL");
}

TEST_CASE("probes: what is no iolist is not shown") {
  init_literal_area();
  Arena heap;
  CHECK(iolist_text(intern_atom("text")) == "NULL");
  CHECK(iolist_text(Term::small('a')) == "NULL");
  CHECK(iolist_text(cons(heap, Term::small(256), Term::nil())) == "NULL");
  CHECK(iolist_text(cons(heap, Term::small(-1), Term::nil())) == "NULL");
  CHECK(iolist_text(cons(heap, Term::small('a'), Term::small('b'))) == "NULL");
  CHECK(iolist_text(cons(heap, intern_atom("a"), Term::nil())) == "NULL");
}

TEST_CASE("probes: numbers are cut to what an argument holds") {
  CHECK(saturated<std::uint32_t>(std::uint64_t{1} << 32) == 0xFFFFFFFF);
  CHECK(saturated<std::uint32_t>(std::uint64_t{5}) == 5);
  CHECK(saturated<std::int32_t>(std::int64_t{1} << 40) == INT32_MAX);
  CHECK(saturated<std::int32_t>(-(std::int64_t{1} << 40)) == INT32_MIN);
  CHECK(saturated<std::int32_t>(std::int64_t{-7}) == -7);
}
