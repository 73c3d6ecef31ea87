#pragma once

#include <string>

#include "vm/process/process.hpp"

/// The stack of a process in OTP's words: process_info's backtrace, process_dump, crash dumps.
/// Tools parse them (redbug, crashdump_viewer). In the thread of the process, or with the machine
/// stopped.
namespace vmrun {

/// "(Module:Function/Arity + Bytes)" of an address in code.
std::string code_address_text(const Word* address);
/// The text of an address on a stack, where code of the machine's own is the end of the process.
std::string return_address_text(const Word* address);
/// A line for the place where the process goes on, or for another one; that of a process that has
/// not begun is no function.
std::string program_counter_text(const Word* address);
/// The value of a slot of the stack that a catch has set.
std::string catch_text(Term slot);
/// The frames, innermost first, with the terms that they hold. returns_to: where a call returns to
/// that is being made and has not got a frame yet; nullptr if there is none.
std::string stack_text(const Process& p, const Word* returns_to = nullptr);

}  // namespace vmrun
