#pragma once

#include <string>

#include "vm/process/process.hpp"

/// The stack of a process as a text for people: process_info's backtrace, crash dumps. In its own
/// thread, or by who has stopped the machine.
namespace vmrun {

/// "(Module:Function/Arity + Bytes)" of an address in code.
std::string code_address_text(const Word* address);
/// A line for the place where the process goes on; nothing when it has not begun.
std::string program_counter_text(const Process& p);
/// The frames, innermost first, with the terms that they hold.
std::string stack_text(const Process& p);

}  // namespace vmrun
