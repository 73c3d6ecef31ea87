// SPDX-License-Identifier: Apache-2.0
#include "probes/d/syntax/c_types.hpp"

#include <catch2/catch.hpp>

using namespace vmrun::d;
using namespace vmrun::d::lang;

TEST_CASE("operands meet in the larger type, and nothing is promoted to int") {
  const Types types;
  CHECK(types.common(kChar, kShort) == kShort);
  CHECK(types.common(kUnsignedChar, kChar) == kUnsignedChar);
  CHECK(types.common(kInt, kUnsigned) == kUnsigned);
  CHECK(types.common(kUnsigned, kLong) == kLong);
  CHECK(types.common(kLong, kUnsignedLong) == kUnsignedLong);
  CHECK(types.common(kInt64, kInt) == kInt64);
  CHECK(types.of_arithmetic(kUnsignedChar) == kUnsignedChar);
}

TEST_CASE("sizes are LP64's, typedefs are what they name") {
  Types types;
  CHECK(types.bytes(kInt) == 4);
  CHECK(types.bytes(kLong) == 8);
  CHECK(types.bytes(kCharPointer) == 8);
  CHECK(types[kInt64].name == "int64_t");
  CHECK(types.same(kInt64, kLong));
  CHECK(types.bytes(types.array_of(kShort, 5)) == 10);
  CHECK(types[types.array_of(types.array_of(kInt, 3), 2)].name == "int [2][3]");
  CHECK(types.same(types.pointer_to(kInt), types.pointer_to(kInt32)));
  CHECK_FALSE(types.same(types.pointer_to(kInt), types.pointer_to(kLong)));
  CHECK(types.is_text(kString));
  CHECK(types.is_text(types.array_of(kChar, 4)));
  CHECK_FALSE(types.is_text(types.array_of(kInt, 4)));
}

TEST_CASE("structures lie as the x86-64 ABI lays them") {
  Types types;
  CType s{.kind = CType::Kind::kStruct, .name = "struct s"};
  REQUIRE(lay_out(types, s, {{"c", kChar}, {"l", kLong}, {"a", kInt, 3}, {"b", kInt, 30}, {"z", kChar}}));
  CHECK(s.members[0].offset == 0);
  CHECK(s.members[1].offset == 8);
  CHECK(s.members[2].offset == 16);
  CHECK(s.members[2].bits == 3);
  CHECK(s.members[3].offset == 20);
  CHECK(s.members[3].bit_offset == 0);
  CHECK(s.members[4].offset == 24);
  CHECK(s.bytes == 32);
  CType u{.kind = CType::Kind::kUnion, .name = "union u"};
  REQUIRE(lay_out(types, u, {{"c", kChar}, {"i", kInt}, {"s", kShort}}));
  CHECK(u.bytes == 4);
  CHECK(u.members[2].offset == 0);
}
