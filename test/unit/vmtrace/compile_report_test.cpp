// SPDX-License-Identifier: Apache-2.0
#include "probes/vmtrace/compile_report.hpp"

#include <catch2/catch.hpp>

using namespace vmrun::d;

TEST_CASE("an error is shown with its line and carets") {
  CompileError error{"D_IDENT_UNDEF", "x.d", "failed to resolve y: unknown variable name", 12};
  error.column = 9;
  error.length = 2;
  error.source_line = "\ttrace(\u65E5\u672C);";
  CHECK(compile_report({error}, false, false) ==
        "x.d:12:9: error: failed to resolve y: unknown variable name\n"
        "  12 |         trace(\u65E5\u672C);\n"
        "     |                 ^^^\n");
  error.source_line = "";
  CHECK(compile_report({error}, true, false) ==
        "x.d:12:9: error: [D_IDENT_UNDEF] failed to resolve y: unknown variable name\n");
}

TEST_CASE("an error without a place names the text or the command") {
  CHECK(compile_report({{"D_EMPTY", "x.d", "empty"}}, false, false) == "x.d: error: empty\n");
  CHECK(compile_report({{"D_PRAGMA_OPTSET", "", "no option"}}, false, false) ==
        "vmtrace: error: no option\n");
}

TEST_CASE("of very many errors the first are shown") {
  const std::vector<CompileError> errors(5, CompileError{"D_SYNTAX", "x.d", "wrong"});
  CHECK(compile_report(errors, false, false, 2) == "x.d: error: wrong\nx.d: error: wrong\n... and 3 more\n");
}
