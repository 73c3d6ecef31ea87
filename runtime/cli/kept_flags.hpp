// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

/// Flags that vmrun itself does not use. They are kept for the library, which reads them by
/// init:get_argument/1. Most belong to nodes and follow `erl`. The table in kept_flags.cpp is the
/// one list.
namespace vmrun::cli {

struct KeptFlag {
  std::string name;  // without its hyphen
  std::vector<std::string> values;
};

/// If argv[*i] is such a flag, takes it with its values and leaves *i at the last word taken; else
/// returns false. Sets *error when a value is missing.
bool keep_flag(int argc, const char* const* argv, int* i, std::vector<KeptFlag>* kept, std::string* error);

/// Whether the word is such a flag.
bool is_kept_flag(const char* word);

/// Returns the names of all these flags, with their hyphens.
std::vector<std::string_view> kept_flag_names();

/// Returns their lines of --help.
std::string kept_flags_help();

}  // namespace vmrun::cli
