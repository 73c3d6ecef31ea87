// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstring>
#include <string>
#include <vector>

#include "probes/inside.hpp"
#include "probes/probe_notes.hpp"

/// What some probes fire while it lives, as a consumer in the machine gets it. One at a time, and
/// only for firings of the test's own thread.
class Fired {
 public:
  struct Firing {
    std::string probe;
    std::vector<std::uint64_t> words;
  };

  explicit Fired(std::initializer_list<const char*> probes) : before_(vmrun::probe::fire_inside) {
    for (const char* name : probes) raised_.push_back(number_of(name));
    all().clear();
    vmrun::probe::fire_inside = [](unsigned probe, unsigned count, const std::uint64_t* words) {
      all().push_back({vmrun::probe::probe_rows()[probe].name, {words, words + count}});
    };
    for (const unsigned n : raised_) vmrun::probe::raise_inside(n);
  }
  ~Fired() {
    for (const unsigned n : raised_) vmrun::probe::lower_inside(n);
    vmrun::probe::fire_inside = before_;
  }
  Fired(const Fired&) = delete;

  /// What has fired since the last call.
  std::vector<Firing> take() { return std::exchange(all(), {}); }

 private:
  static std::vector<Firing>& all() {
    static std::vector<Firing> firings;
    return firings;
  }
  static unsigned number_of(const char* name) {
    unsigned n = 0;
    while (std::strcmp(vmrun::probe::probe_rows()[n].name, name) != 0) ++n;
    return n;
  }

  const vmrun::probe::FireInside before_;
  std::vector<unsigned> raised_;
};
