// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

/// The machine's flags of erl(1), which begin with `+`: their names, how their values are found,
/// and which flag of vmrun's own they stand for. The table in erl_flags.cpp is the one list.
namespace vmrun::cli {

/// Reads the flag words[*i], which begins with +, and leaves *i at the last word of it. Appends the
/// flags of vmrun's own that it stands for. Returns an error as a sentence, or nothing.
std::optional<std::string> take_erl_flag(const std::vector<std::string>& words, std::size_t* i,
                                         std::vector<std::string>* ours);

}  // namespace vmrun::cli
