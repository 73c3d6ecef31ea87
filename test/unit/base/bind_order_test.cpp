// SPDX-License-Identifier: Apache-2.0
#include "vm/base/bind_order.hpp"

#include <catch2/catch.hpp>
#include <string>

#include "vm/base/topology_text.hpp"

using namespace vmrun;

namespace {

std::vector<ProcessorPlace> places(const char* text) {
  auto read = read_topology(text);
  REQUIRE(std::holds_alternative<std::vector<ProcessorPlace>>(read));
  return std::get<std::vector<ProcessorPlace>>(read);
}

std::string error(const char* text) {
  const auto read = read_topology(text);
  const auto* error = std::get_if<const char*>(&read);
  return error ? *error : "";
}

std::string order(const char* text, const char* letters) {
  std::string numbers;
  for (const int n : bind_order(places(text), *bind_type_of_letters(letters)))
    numbers += (numbers.empty() ? "" : " ") + std::to_string(n);
  return numbers;
}

// Nodes around processors, and processors with nodes inside, in turn.
const char* const kMixed =
    "L0-1t0-1c0p0n0:L2-3t0-1c1p0n0:L4-5t0-1c0p1n0:L6-7t0-1c1p1n0:"
    "L8-9t0-1c0n1p2:L10-11t0-1c1n1p2:L12-13t0-1c2n2p2:L14-15t0-1c3n2p2";
const char* const kParts = "L0n0p0:L1-2t0-1c0n1p0:L3c1n1p0:L4p1n2:L5-7c0-2p2n2:L8-10t0-2p3n2";
const char* const kRagged = "L0c0p0:L1-2t0-1c1p0:L3-5t0-2c0p1:L6c1p1:L7c2p1";

}  // namespace

// The expected values are those of OTP 25.
TEST_CASE("schedulers are bound in the order of their bind type") {
  CHECK(order(kMixed, "u") == "");
  CHECK(order(kMixed, "ns") == "0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15");
  CHECK(order(kMixed, "ts") == "0 2 4 6 8 10 12 14 1 3 5 7 9 11 13 15");
  CHECK(order(kMixed, "ps") == "0 4 8 2 6 10 12 14 1 5 9 3 7 11 13 15");
  CHECK(order(kMixed, "s") == "0 8 4 12 2 10 6 14 1 9 5 13 3 11 7 15");
  CHECK(order(kMixed, "nnts") == "0 2 4 6 1 3 5 7 8 10 9 11 12 14 13 15");
  CHECK(order(kMixed, "nnps") == "0 4 2 6 1 5 3 7 8 10 9 11 12 14 13 15");
  CHECK(order(kMixed, "tnnps") == "0 4 2 6 8 10 12 14 1 5 3 7 9 11 13 15");
  CHECK(order(kMixed, "db") == order(kMixed, "tnnps"));
  CHECK(order(kParts, "ns") == "0 1 2 3 4 5 6 7 8 9 10");
  CHECK(order(kParts, "ts") == "0 1 3 4 5 6 7 8 2 9 10");
  CHECK(order(kParts, "ps") == "0 4 5 8 6 7 1 3 9 2 10");
  CHECK(order(kParts, "s") == "0 4 5 8 1 6 3 7 9 2 10");
  CHECK(order(kParts, "nnts") == "0 1 3 2 4 5 6 7 8 9 10");
  CHECK(order(kParts, "nnps") == "0 1 3 2 4 5 8 6 7 9 10");
  CHECK(order(kParts, "tnnps") == "0 1 3 4 5 8 6 7 2 9 10");
  CHECK(order(kRagged, "ns") == "0 1 2 3 4 5 6 7");
  CHECK(order(kRagged, "ts") == "0 1 3 6 7 2 4 5");
  CHECK(order(kRagged, "ps") == "0 3 1 6 7 4 2 5");
  CHECK(order(kRagged, "s") == "0 3 1 6 7 4 2 5");
  CHECK(order(kRagged, "nnts") == "0 1 3 6 7 2 4 5");
  CHECK(order(kRagged, "nnps") == "0 3 1 6 7 4 2 5");
  CHECK(order(kRagged, "tnnps") == "0 3 1 6 7 4 2 5");
  CHECK(order(kRagged, "db") == order(kRagged, "tnnps"));
}

TEST_CASE("a topology that is stated wrongly is refused") {
  CHECK(error("") == "missing cpu topology");
  for (const char* text : {"x", "l0", "L0x1", "L0-1-2", "L0 "})
    CHECK(error(text) == "invalid identifier type");
  for (const char* text : {"L", "L0c", "L0,", "L0,c0", "L-1", "L65536", "L0c65536"})
    CHECK(error(text) == "invalid identifier");
  for (const char* text : {"L0-", "L0-x", "L0-3c0-1", "L0c0-1", "L0-1c0-2"})
    CHECK(error(text) == "invalid identifier range");
  for (const char* text : {"c0L0", "c0c1", "L0L1", "L0c0t0", "L0n0c0", "L0p0n0p1", "L0c0c"})
    CHECK(error(text) == "invalid hierarchy");
  for (const char* text : {"c0", ":L0", "L0::L1", "L0:c0"})
    CHECK(error(text) == "missing logical identifier");
  for (const char* text : {"L0:L0", "L0,0"}) CHECK(error(text) == "not unique logical identifiers");
  for (const char* text : {"L0-1", "L0c0:L1c0", "L0-1c0,0", "L0-1n0:L2-3p0"})
    CHECK(error(text) == "not unique entities");
  for (const char* text : {"L0p0n0:L1p1", "L0-1n0-1", "L0p0n0:L1n0p0", "L0c0p0n0:L1c0p0"})
    CHECK(error(text) == "invalid nodes declaration");
  for (const char* text : {"L0", "L0:", "L2-0c0-2", "L00", "L65535", "L0T0C0P0N0", "L0-1n0-1p0"})
    CHECK(error(text) == "");
}

TEST_CASE("places of a stated topology are in the order of their identifiers") {
  const std::vector<ProcessorPlace> found = places("L3c1p1n7:L2c0p1n7:L9n4p0");
  CHECK(found.size() == 3);
  CHECK(found[0] == ProcessorPlace{-1, 0, 4, 0, 9, 0});
  CHECK(found[1] == ProcessorPlace{7, 1, -1, 0, 2, 0});
  CHECK(found[2] == ProcessorPlace{7, 1, -1, 1, 3, 0});
}
