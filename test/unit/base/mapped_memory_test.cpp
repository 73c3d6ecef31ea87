// SPDX-License-Identifier: Apache-2.0
#include "vm/base/mapped_memory.hpp"

#include <catch2/catch.hpp>
#include <cstring>
#include <vector>

using namespace vmrun;

TEST_CASE("A block that has just been given back is there again, whatever has been before") {
  constexpr std::size_t kOther = std::size_t{2} << 20, kBytes = std::size_t{3} << 20;
  std::vector<void*> others;
  for (int n = 0; n < 12; ++n) others.push_back(try_map(kOther));
  for (void* block : others) unmap(block, kOther);
  void* const block = try_map(kBytes);
  REQUIRE(block);
  std::memset(block, 0x5A, kBytes);
  unmap(block, kBytes);
  // Fresh memory is zero.
  const auto* const again = static_cast<const unsigned char*>(try_map(kBytes));
  REQUIRE(again);
  CHECK(again[0] == 0x5A);
  CHECK(again[kBytes - 1] == 0x5A);
  unmap(const_cast<unsigned char*>(again), kBytes);
}
