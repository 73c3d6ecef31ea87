#pragma once

#include <cstdint>
#include <string>
#include <utility>

/// What the passes of the compiler say when a text is wrong. As in dtrace the first error ends the
/// compilation: a pass throws a Failure, and compile() catches it; nobody else sees one.
namespace vmrun::d::lang {

struct Place {
  std::uint32_t file = 0, line = 0;  // index in Script::files; line 0: of no line
};

struct Failure {
  const char* tag;  // dtrace's published one
  Place place;
  std::string text;
};

[[noreturn]] inline void fail(Place place, const char* tag, std::string text) {
  throw Failure{tag, place, std::move(text)};
}

}  // namespace vmrun::d::lang
