// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

/// -C: runs a text through the C preprocessor, the system's `cpp`. It blocks until that is done.
namespace vmrun::d {

/// Returns whether cpp was content. said: what it wrote for the user: errors, warnings, the files
/// of -H. file: the name of the text; its includes are looked for beside it first. flags: -D, -U,
/// -I, -H.
bool preprocess(const std::string& file, const std::string& text, const std::vector<std::string>& flags,
                std::string& out, std::string& said);

}  // namespace vmrun::d
