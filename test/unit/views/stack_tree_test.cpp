// SPDX-License-Identifier: Apache-2.0
#include "probes/views/stack_tree.hpp"

#include <catch2/catch.hpp>

using namespace vmrun::d;

namespace {

std::string json_of(const StackTree& tree) {
  std::string out = "{";
  tree.put_members(out);
  return out + "}";
}

void check_parts(std::string_view frame, std::string_view label, std::string_view module,
                 std::string_view place) {
  INFO(frame);
  const FrameText parts = split_frame(frame);
  CHECK(parts.label == label);
  CHECK(parts.module == module);
  CHECK(parts.place == place);
}

}  // namespace

TEST_CASE("stack tree: the parts of a frame") {
  check_parts("lists:map/2 (lists.erl:1243)", "lists:map/2", "lists", "lists.erl:1243");
  check_parts("t:f/0", "t:f/0", "t", "");
  check_parts("t:'-f/1-fun-0-'/2 (/tmp/a b (1).erl:7)", "t:'-f/1-fun-0-'/2", "t", "/tmp/a b (1).erl:7");
  check_parts("0x7f00", "0x7f00", "", "");
  check_parts("", "", "", "");
}

TEST_CASE("stack tree: nothing inside a quoted atom is a part") {
  check_parts("'a:b/1 (c:2)':'d/3'/4 (x.erl:1)", "'a:b/1 (c:2)':'d/3'/4", "'a:b/1 (c:2)'", "x.erl:1");
  check_parts(R"('it\'s:x':f/1)", R"('it\'s:x':f/1)", R"('it\'s:x')", "");
  check_parts("'never closed:f/1", "'never closed:f/1", "", "");
  check_parts("m:f/", "m:f/", "", "");
  check_parts("m:f/1 left over", "m:f/1 left over", "", "");
}

TEST_CASE("stack tree: stacks that begin alike share their frames") {
  StackTree tree;
  tree.add("", "t:leaf/1 (t.erl:9)\nt:main/0 (t.erl:2)\n", 5);
  tree.add("", "t:leaf/1 (t.erl:9)\nt:main/0 (t.erl:2)\n", 2);
  tree.add("", "t:other/0\nt:main/0 (t.erl:2)\n", 1);
  tree.add("", "t:main/0 (t.erl:2)\n", 4);
  CHECK(tree.total() == 12);
  CHECK(tree.size() == 3);
  CHECK(json_of(tree) == R"({"names":[["t:main/0","t"],["t:leaf/1","t"],["t:other/0","t"]],)"
                         R"("places":["t.erl:2","t.erl:9"],)"
                         R"("nodes":[[0,0,0,4],[1,1,1,7],[1,2,-1,1]]})");
}

TEST_CASE("stack tree: a root is no function, whatever it is called") {
  StackTree tree;
  tree.add("lists:map/2", "lists:map/2", 1);
  tree.add("worker", "", 3);
  tree.add("", "", 2);
  CHECK(json_of(tree) ==
        R"({"names":[["lists:map/2",null],["lists:map/2","lists"],["worker",null],["no stack",null]],)"
        R"("places":[],"nodes":[[0,0,-1,0],[1,1,-1,1],[0,2,-1,3],[0,3,-1,2]]})");
}

TEST_CASE("stack tree: as deep as stacks are") {
  StackTree tree;
  std::string lines;
  for (int i = 0; i < 20000; ++i) lines += "t:f/1 (t.erl:1)\n";
  tree.add("", lines, 1);
  CHECK(tree.size() == 20000);
  CHECK(json_of(tree).ends_with("[19999,0,0,1]]}"));
}
