// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "vm/process/process.hpp"

/// Texts of characters for other built-in functions. Called by the thread that runs the process.
namespace vmrun {

/// Converts a list of code points and binaries, of any depth, to a binary in UTF-8. Returns the
/// tuple that says why it cannot be converted, or the non-value when the term is not text, or too
/// long for the calling thread (*used_up).
Term utf8_of_characters(Process& p, Term characters, bool* used_up);

}  // namespace vmrun
