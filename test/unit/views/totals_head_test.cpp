// SPDX-License-Identifier: Apache-2.0
#include "probes/views/totals_head.hpp"

#include <catch2/catch.hpp>

// The head of a screen, from the totals of machines.
using namespace vmrun::d;
using vmrun::screen::Look;

namespace {

Totals machine(std::uint64_t at_ns, std::uint64_t idle_ns, std::uint32_t queue, std::uint64_t processes) {
  Totals t;
  t.at_ns = at_ns;
  t.schedulers = {{queue, idle_ns, at_ns}, {0, 0, at_ns}};
  t.totals = {{"process_count", processes, 1000},
              {"ets_count", 7, 0},
              {"memory_total", 3 << 20, 0},
              {"garbage_collection", at_ns / 1'000'000, 0}};
  return t;
}

std::string text_of(const HeadParts& parts) {
  std::string text;
  for (const auto& part : parts) {
    for (const auto& piece : part) text += piece.text + ";";
    text += '\n';
  }
  return text;
}

const vmrun::screen::Piece& piece_of(const HeadParts& parts, std::string_view beginning) {
  for (const auto& part : parts)
    for (const auto& piece : part)
      if (piece.text.starts_with(beginning)) return piece;
  FAIL(beginning << " is not in\n" << text_of(parts));
  return parts[0][0];
}

}  // namespace

TEST_CASE("use and rates are those of the interval") {
  const Totals before[] = {machine(1'000'000'000, 100'000'000, 0, 10)};
  const Totals now[] = {machine(3'000'000'000, 1'100'000'000, 2, 20)};
  const HeadParts parts = head_of(before, now);
  CHECK(piece_of(parts, "use").text == "use 75%");
  CHECK(piece_of(parts, "1:").text == "1:  50%");
  CHECK(piece_of(parts, "2:").text == "2: 100%");
  CHECK(piece_of(parts, "collections").text == "collections 1000/s");
  CHECK(piece_of(parts, "tables").text == "tables 7");
  CHECK(piece_of(parts, "processes").text == "processes 20 of 1000");
}

TEST_CASE("without an earlier reading there are no rates") {
  const Totals now[] = {machine(3'000'000'000, 0, 0, 20)};
  CHECK(text_of(head_of({}, now)).find("/s") == std::string::npos);
  CHECK(head_of({}, {}).empty());
}

TEST_CASE("what is near its limit stands out") {
  const Totals far[] = {machine(1, 0, 2, 799)}, near[] = {machine(1, 0, 3, 800)};
  CHECK(piece_of(head_of({}, far), "processes").look == Look::kPlain);
  CHECK(piece_of(head_of({}, far), "run queue").look == Look::kPlain);
  CHECK(piece_of(head_of({}, near), "!processes 800").look == Look::kWarning);
  CHECK(piece_of(head_of({}, near), "!run queue 3").look == Look::kWarning);
}

TEST_CASE("machines are added up, and each is looked at for its limits") {
  const Totals now[] = {machine(1, 0, 0, 10), machine(1, 0, 0, 900)};
  CHECK(piece_of(head_of({}, now), "!processes").text == "!processes 910 of 2000");
  CHECK(piece_of(head_of({}, now), "schedulers").text == "schedulers 4");
}
