// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "vm/process/process.hpp"
#include "vm/term/fun.hpp"

/// Items of system_info about the machine's inside: texts for people, and information about
/// allocators, descriptors and tables.
namespace vmrun {

/// Returns nothing when there is no such item. May collect.
std::optional<Term> inside_info(Process& p, std::string_view name);

/// Returns this node and each one that is or was connected to it, in the format of OTP's crash
/// dumps. Any thread.
std::string distribution_text();

/// Visits all persistent terms; writers are kept out meanwhile.
void for_each_persistent_term(const std::function<void(Term key, Term value)>& visit);

}  // namespace vmrun
