// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "probes/engine/host.hpp"

/// A host that has no probes, no processes and no terms. It serves scripts without a target, and
/// measurements and tests of the engine alone. Any thread may use it.
namespace vmrun::d {

class NullHost : public Host {
 public:
  const std::vector<ProbeInfo>& probes() const override { return probes_; }
  EncodedArgument encoded_argument(const Firing&, unsigned, char*, std::size_t) override {
    return {Encoding::kNull, 0};
  }
  std::ptrdiff_t argument_text(const Firing&, unsigned, char*, std::size_t) override { return -1; }
  std::uint64_t self_key(const Firing&) override { return 0; }
  std::uint64_t builtin_number(unsigned, const Firing&) override { return 0; }
  EncodedArgument builtin_encoded(unsigned, const Firing&, char*, std::size_t) override {
    return {Encoding::kNull, 0};
  }
  std::size_t stack(const Firing&, std::uint64_t*, std::size_t) override { return 0; }
  bool argument_term(const Firing&, unsigned, std::uint64_t&) override { return false; }
  bool term_part(unsigned, std::uint64_t, std::int64_t, std::uint64_t&) override { return false; }
  bool term_number(unsigned, std::uint64_t, std::int64_t&) override { return false; }
  std::size_t term_text(std::uint64_t, char*, std::size_t) override { return 0; }
  void enable(std::uint32_t) override {}
  void disable(std::uint32_t) override {}
  void wait_for_firings() override {}
  std::string atom_name(std::uint64_t) override { return ""; }
  std::string address_name(std::uint64_t) override { return ""; }

 private:
  std::vector<ProbeInfo> probes_;
};

}  // namespace vmrun::d
