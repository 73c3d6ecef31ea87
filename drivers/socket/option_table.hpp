#pragma once

#include <span>

#include "drivers/socket/option_kinds.hpp"

/// The one list of socket options: what socket:supports(options) says, and what setopt and getopt
/// do.
namespace vmrun::sockets {

struct Option {
  const char* name;
  int number = 0;
  const OptionKind* kind = nullptr;  // nullptr: it is not offered
};

struct OptionLevel {
  int number;
  std::span<const Option> options;
};

std::span<const OptionLevel> option_levels();
/// nullptr: not offered.
const OptionKind* find_option(int level, int number);

}  // namespace vmrun::sockets
