// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "runtime/cli/kept_flags.hpp"

/// A command line without a script, as `erl` reads it: each flag takes all words up to the next
/// flag. Flags that vmrun does not know are kept for the library, which runs what `-s`, `-run`,
/// `-eval` and `-user` name (runtime/lib/init_flags.erl). So programs that start `erl`, like `peer`
/// and `slave`, can start vmrun.
namespace vmrun::cli {

/// Whether the command line is of that kind: one of those flags stands in it, from word `first` on.
bool is_without_script(int argc, const char* const* argv, int first);

/// Called with each flag and its values; returns whether it is a flag of vmrun's own.
using OwnFlag =
    std::function<bool(const std::string& flag, const std::vector<std::string>& values, std::string* error)>;

/// Puts flags that are not vmrun's own into *kept. Words between `--` and the next flag, and all
/// words behind `-extra`, go into *plain. Returns an error as a sentence, or "".
std::string read_without_script(int argc, const char* const* argv, const OwnFlag& own,
                                std::vector<KeptFlag>* kept, std::vector<std::string>* plain);

/// `-detached`: goes on in the background, in a session of its own, with /dev/null as its standard
/// files. Must be called before a second thread starts.
void detach();

}  // namespace vmrun::cli
