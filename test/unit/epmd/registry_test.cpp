#include "runtime/epmd/registry.hpp"

#include <catch2/catch.hpp>

using namespace vmrun::epmd;

namespace {

std::string u16(unsigned n) { return {static_cast<char>(n >> 8), static_cast<char>(n)}; }

std::string alive(const std::string& name, unsigned high = 6) {
  return "x" + u16(4000) + "M" + std::string(1, '\0') + u16(high) + u16(5) + u16(name.size()) + name + u16(0);
}

TEST_CASE("a name belongs to the connection that has registered it") {
  Registry epmd(4369, 100, false);
  const Answer first = epmd.answer(alive("a"), 1, true);
  CHECK(first.then == Then::kKeepOpen);
  CHECK(first.bytes == std::string{'v', 0, 0, 0, 0, 101});
  CHECK(epmd.answer(alive("a"), 2, true).bytes[1] == 1);
  CHECK(epmd.answer(alive("b"), 1, true).bytes[1] == 1);  // a connection has one name
  CHECK(epmd.answer("za", 3, false).bytes == std::string{'w', 0} + u16(4000) + "M" + std::string(1, '\0') +
                                                 u16(6) + u16(5) + u16(1) + "a" + u16(0));
  epmd.closed(1);
  CHECK(epmd.answer("za", 3, false).bytes == std::string{'w', 1});
  CHECK(epmd.answer(alive("a"), 2, true).bytes[5] == 102);
}

TEST_CASE("old nodes get a small creation") {
  Registry epmd(4369, 100, false);
  const Answer answer = epmd.answer(alive("old", 5), 1, true);
  CHECK(answer.bytes.substr(0, 2) == std::string{'y', 0});
  CHECK(answer.bytes.size() == 4);
  CHECK((answer.bytes[3] >= 1 && answer.bytes[3] <= 3));
}

TEST_CASE("only this host registers and commands") {
  Registry epmd(4369, 100, false);
  CHECK(epmd.answer(alive("a"), 1, false).bytes.empty());
  CHECK(epmd.answer("k", 1, false).then == Then::kClose);
  CHECK(epmd.answer("d", 1, false).bytes.empty());
  epmd.answer(alive("a"), 1, true);
  CHECK(epmd.answer("k", 2, true).bytes == "NO");
  CHECK(epmd.answer("n", 2, false).bytes == std::string{0, 0, 0x11, 0x11} + "name a at port 4000\n");
  epmd.closed(1);
  CHECK(epmd.answer("k", 2, true).then == Then::kEnd);
}

TEST_CASE("requests that end early, or hold what is no name, are refused") {
  Registry epmd(4369, 100, false);
  const std::string whole = alive("a");
  for (std::size_t n = 0; n < whole.size(); ++n)
    CHECK(epmd.answer(whole.substr(0, n), 1, true).bytes.empty());
  for (const std::string& name : {std::string{}, std::string("a\nname b"), std::string(256, 'a')})
    CHECK(epmd.answer(alive(name), 1, true).bytes[1] == 1);
  CHECK(epmd.answer("?", 1, true).bytes.empty());
  CHECK(epmd.answer("n", 1, true).bytes.size() == 4);
}

}  // namespace
