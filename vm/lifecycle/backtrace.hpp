// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "vm/process/process.hpp"

/// The stack of a process as text in OTP's form: process_info's backtrace, process_dump, crash
/// dumps. Tools parse it (redbug, crashdump_viewer). Called in the thread that runs the process, or
/// with the machine stopped.
namespace vmrun {

/// Returns "(Module:Function/Arity + Bytes)" for an address in code.
std::string code_address_text(const Word* address);
/// Returns the text of an address on a stack, where code of the machine's own is the end of the
/// process.
std::string return_address_text(const Word* address);
/// Returns a line for the place where the process goes on, or for another address. For a process
/// that has not begun it names no function.
std::string program_counter_text(const Word* address);
/// Returns the value of a stack slot that a catch has set.
std::string catch_text(Term slot);
/// Returns the frames, innermost first, with their terms. returns_to: the return address of a call
/// that is being made and has no frame yet; nullptr if there is no such call.
std::string stack_text(const Process& p, const Word* returns_to = nullptr);

}  // namespace vmrun
