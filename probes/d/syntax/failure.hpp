// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <utility>

/// How the passes of the compiler report a wrong text. As in dtrace, the first error ends the
/// compilation: a pass throws a Failure, and compile() catches it. No other code sees one.
namespace vmrun::d::lang {

struct Place {
  std::uint32_t file = 0, line = 0;  // index in Script::files; line 0: no line
};

struct Failure {
  const char* tag;  // the one that dtrace publishes
  Place place;
  std::string text;
};

[[noreturn]] inline void fail(Place place, const char* tag, std::string text) {
  throw Failure{tag, place, std::move(text)};
}

}  // namespace vmrun::d::lang
