// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>

/// Consumers that a benchmark attaches to its own process.
namespace vmrun::micro {

/// bpftrace, attached from construction to destruction. It needs root and a kernel with uprobes.
class Bpftrace {
 public:
  /// site: `provider:probe` of this program. action: bpftrace's, in braces.
  Bpftrace(const std::string& site, const std::string& action);
  ~Bpftrace();
  Bpftrace(const Bpftrace&) = delete;
  Bpftrace& operator=(const Bpftrace&) = delete;

  /// Why it is not attached; empty when it is.
  const std::string& why_not() const { return why_not_; }
  /// Detaches, and tells how often the site was counted in the map `@`; 0 without such a map.
  std::uint64_t detach();

 private:
  pid_t pid_ = -1;
  int output_ = -1;
  std::string why_not_;
};

}  // namespace vmrun::micro
