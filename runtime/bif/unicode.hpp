#pragma once

#include "vm/process/process.hpp"

/// Texts of characters for other built-in functions. In the process's own thread.
namespace vmrun {

/// A list of code points and binaries, of any depth, as a binary in UTF-8; or the tuple that says
/// why it cannot be one; the non-value when it is no text at all, or too long for the calling
/// thread: *used_up.
Term utf8_of_characters(Process& p, Term characters, bool* used_up);

}  // namespace vmrun
