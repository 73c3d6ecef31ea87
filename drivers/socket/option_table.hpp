// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>

#include "drivers/socket/option_kinds.hpp"

/// The one list of socket options, for socket:supports(options), setopt and getopt.
namespace vmrun::sockets {

struct Option {
  const char* name;
  int number = 0;
  const OptionKind* kind = nullptr;  // nullptr: not supported
};

struct OptionLevel {
  const char* name;
  int number;
  std::span<const Option> options;
};

std::span<const OptionLevel> option_levels();
/// Returns nullptr when the option is not supported.
const OptionKind* find_option(int level, int number);

}  // namespace vmrun::sockets
