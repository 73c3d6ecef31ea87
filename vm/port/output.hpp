// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <vector>

#include "vm/base/small_limits.hpp"
#include "vm/include/erl_driver.h"
#include "vm/port/port.hpp"

/// Data for a driver. The sender makes them from iodata; they are passed to output as one run of
/// bytes, or to outputv as a vector. Small pieces are copied; large binaries are retained, not
/// copied. Owned by the sender, then by the task that carries them.
namespace vmrun {

class PortOutput {
 public:
  PortOutput() = default;
  PortOutput(const PortOutput&) = delete;
  PortOutput(PortOutput&& other) noexcept;
  ~PortOutput();

  /// Returns false when data is not iodata of whole bytes. as_vector: for outputv.
  [[nodiscard]] bool gather(Term data, bool as_vector);
  std::size_t size() const { return size_; }
  /// Passes them to the driver of the port, which the caller holds.
  void give_to(Port& p, Term caller);

 private:
  void tell_tracer(Port& p, Term caller) const;
  void give(Port& p, Term caller);
  void give_reported(Port& p, Term caller);

  static constexpr std::size_t kInline = usual_or_small<std::size_t>(512, 16);

  std::size_t size_ = 0;
  // One run of bytes; a short one lies in inline_.
  std::uint8_t* bytes_ = nullptr;
  std::uint8_t inline_[kInline];
  // A vector. The driver fills in element 0; the copied bytes lie in one binary.
  bool as_vector_ = false;
  std::vector<SysIOVec> vectors_;
  std::vector<ErlDrvBinary*> binaries_;
};

}  // namespace vmrun
