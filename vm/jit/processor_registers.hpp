// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace vmrun::jit {

/// A general register: 0 up to kGeneral are values' (allocation.hpp); the others are fixed.
struct Register {
  std::uint8_t number;
  bool operator==(const Register&) const = default;
};

struct FloatRegister {
  std::uint8_t number;
  bool operator==(const FloatRegister&) const = default;
};

}  // namespace vmrun::jit
