#pragma once

#include <string>
#include <vector>

/// -C: a script through the C preprocessor, which is the system's `cpp`. Blocks until that is done.
namespace vmrun::d {

/// False, with what cpp said. file: how the text is called, and where its includes are looked for
/// first. flags: -D, -U, -I.
bool preprocess(const std::string& file, const std::string& text, const std::vector<std::string>& flags,
                std::string& out, std::string& why);

}  // namespace vmrun::d
