// SPDX-License-Identifier: Apache-2.0
// The table of ports, while ports come and go.
#include <catch2/catch.hpp>

#include <atomic>
#include <map>
#include <memory>
#include <set>
#include <thread>
#include <vector>

#include "vm/port/driver.hpp"
#include "vm/port/driver_api.hpp"
#include "vm/port/port.hpp"

using namespace vmrun;

namespace {

Driver& new_driver(const char* name) {
  static std::map<std::string, ErlDrvEntry> entries;
  ErlDrvEntry& entry = entries[name] = own_driver_entry(name);
  register_driver(&entry);
  return *acquire_driver(name);
}

}  // namespace

TEST_CASE("what ports there are is what was there at one moment, without files") {
  static PortTable table;
  table.init(1024);
  Driver &plain = new_driver("ordinary"), &files = new_driver("efile");
  constexpr std::size_t kPorts = 40'000, kLiving = 300;
  // The oldest goes when a new one is there. So those that live follow each other.
  std::vector<std::unique_ptr<Port>> ports;
  std::atomic<bool> begun{false}, done{false};
  std::thread opening([&] {
    for (std::size_t i = 0; i < kPorts; ++i) {
      Port& file = *ports.emplace_back(create_port(files, Term::pid(1), "efile"));
      if (!table.add(file)) std::abort();
      Port& p = *ports.emplace_back(create_port(plain, Term::pid(1), "ordinary"));
      if (!table.add(p)) std::abort();
      table.remove(file);
      if (i >= kLiving) table.remove(*ports[2 * (i - kLiving) + 1]);
      if (i == kLiving) begun = true;
    }
    done = true;
  });
  while (!begun) std::this_thread::yield();
  std::vector<std::vector<Term>> seen;
  while (!done || seen.empty()) seen.push_back(table.seen_by_programs());
  opening.join();

  std::map<Word, std::size_t> place;
  for (std::size_t i = 0; i < ports.size(); ++i) place[ports[i]->id.id_number()] = i;
  std::size_t wrong = 0;
  for (const auto& ids : seen) {
    std::set<std::size_t> places;
    for (const Term id : ids) places.insert(place.at(id.id_number()));
    const std::size_t span = (*places.rbegin() - *places.begin()) / 2 + 1;
    wrong += span != places.size() || (span != kLiving && span != kLiving + 1) || *places.begin() % 2 == 0;
  }
  REQUIRE(wrong == 0);
}
