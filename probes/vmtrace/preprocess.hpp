// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

/// -C: runs a script through the C preprocessor, the system's `cpp`. It blocks until that is done.
namespace vmrun::d {

/// Returns false, with what cpp said. file: the name of the text; its includes are looked for
/// beside it first. flags: -D, -U, -I.
bool preprocess(const std::string& file, const std::string& text, const std::vector<std::string>& flags,
                std::string& out, std::string& why);

}  // namespace vmrun::d
