#pragma once

#include <string>
#include <string_view>
#include <vector>

/// Flags that mean nothing to vmrun itself: they are kept for the library, which asks for them with
/// init:get_argument/1. Most belong to nodes and follow `erl`. The table in kept_flags.cpp is the
/// one list.
namespace vmrun::cli {

struct KeptFlag {
  std::string name;  // without its hyphen
  std::vector<std::string> values;
};

/// Takes argv[*i], when it is such a flag, with its values, and leaves *i at the last word taken.
/// Returns false when it is none. A missing value: sets *error.
bool keep_flag(int argc, const char* const* argv, int* i, std::vector<KeptFlag>* kept, std::string* error);

/// Whether the word is one of them.
bool is_kept_flag(const char* word);

/// All of them, with their hyphens.
std::vector<std::string_view> kept_flag_names();

/// Their lines of --help.
std::string kept_flags_help();

}  // namespace vmrun::cli
