// SPDX-License-Identifier: Apache-2.0
#include "probes/views/flame.hpp"

#include <catch2/catch.hpp>

using namespace vmrun::d;

TEST_CASE("flame page: the data stand in it, and nothing in them is markup") {
  StackTree tree;
  tree.add("</script><img src=x>", "'</script>':f/1 (</script>:1)", 7);
  const std::string page = flame_page(tree, "samples", "<b>title", "about </script>");
  const auto begin = page.find("<script type=\"application/json\" id=\"data\">");
  REQUIRE(begin != std::string::npos);
  const auto data = page.find('{', begin), end = page.find('<', data);
  CHECK(page.substr(end).starts_with("</script>\n<script>"));
  CHECK(page.substr(data, end - data) ==
        R"({"title":"\u003cb>title","about":"about \u003c/script>","unit":"samples",)"
        R"("names":[["\u003c/script>\u003cimg src=x>",null],["'\u003c/script>':f/1","'\u003c/script>'"]],)"
        R"("places":["\u003c/script>:1"],"nodes":[[0,0,-1,0],[1,1,0,7]]})");
}

TEST_CASE("flame page: it asks nobody for anything") {
  const std::string page = flame_page(StackTree(), "samples", "", "");
  CHECK(page.find("://") == std::string::npos);
  CHECK(page.find("default-src 'none'") != std::string::npos);
  CHECK(page.find("{{") == std::string::npos);
}
