#pragma once

#include <optional>
#include <string>
#include <vector>

/// The machine's flags of erl(1), those that begin with `+`: which there are, how their values are
/// found, and what of them is a flag of vmrun's own. The table in erl_flags.cpp is the one list.
namespace vmrun::cli {

/// words[*i] begins with +; leaves *i at the last word that it takes, and appends what vmrun's own
/// command line would have. What is wrong, as a sentence.
std::optional<std::string> take_erl_flag(const std::vector<std::string>& words, std::size_t* i,
                                         std::vector<std::string>* ours);

}  // namespace vmrun::cli
