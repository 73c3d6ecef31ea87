#pragma once

#include <functional>
#include <string>
#include <vector>

#include "runtime/cli/kept_flags.hpp"

/// A command line without a script, as `erl` reads one: each flag takes all words up to the next
/// flag, and those that vmrun does not know are kept for the library, which runs what `-s`, `-run`,
/// `-eval` and `-user` name (runtime/lib/init_flags.erl). So `peer`, `slave` and whoever else
/// starts `erl` can start vmrun.
namespace vmrun::cli {

/// Whether the command line is of that kind: one of those flags stands in it, from word `first` on.
bool is_without_script(int argc, const char* const* argv, int first);

/// Told of each flag with its values; answers whether it was one of vmrun's own.
using OwnFlag =
    std::function<bool(const std::string& flag, const std::vector<std::string>& values, std::string* error)>;

/// Flags that are not vmrun's own are put into *kept. What follows `--` up to the next flag, and
/// `-extra` to the end, goes into *plain. Returns an error as a sentence, or nothing.
std::string read_without_script(int argc, const char* const* argv, const OwnFlag& own,
                                std::vector<KeptFlag>* kept, std::vector<std::string>* plain);

/// `-detached`: goes on in the background, in a session of its own, with /dev/null for its standard
/// files. To be called before there is a second thread.
void detach();

}  // namespace vmrun::cli
