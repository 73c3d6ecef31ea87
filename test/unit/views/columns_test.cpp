// SPDX-License-Identifier: Apache-2.0
#include "probes/views/columns.hpp"

#include <catch2/catch.hpp>

// Aligned columns, cut to a width.
using namespace vmrun::d;

namespace {

std::string table(const std::vector<Column>& columns, const std::vector<std::vector<std::string>>& rows,
                  std::size_t width = 0) {
  std::string out;
  put_columns(out, columns, rows, width);
  return out;
}

}  // namespace

TEST_CASE("numbers stand right, texts left, and no line ends in blanks") {
  CHECK(table({{"TIME", true}, {"WHO", false}, {"N", true}},
              {{"5 ms", "a", "1"}, {"12.3 us", "long name", "10"}}) ==
        "   TIME  WHO         N\n"
        "   5 ms  a           1\n"
        "12.3 us  long name  10\n");
  CHECK(table({{"A", true}, {"WHO", false}}, {}) == "A  WHO\n");
}

TEST_CASE("the longest text is cut to the width, numbers never") {
  CHECK(table({{"N", true}, {"WHO", false}}, {{"12", "a_process_with_a_long_name"}}, 20) ==
        " N  WHO\n"
        "12  a_process_with..\n");
  CHECK(table({{"N", true}}, {{"123456"}}, 3) == "     N\n123456\n");
}

TEST_CASE("a character of several bytes takes one place") {
  CHECK(characters("h\xc3\xa9llo") == 5);
  CHECK(cut("h\xc3\xa9llo", 4) == "h\xc3\xa9..");
  CHECK(cut("hello", 5) == "hello");
  CHECK(cut("hello", 1) == ".");
}

TEST_CASE("a name cannot move the cursor") { CHECK(printable("a\033[2Jb\n") == "a?[2Jb?"); }
