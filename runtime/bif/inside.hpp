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

/// system_info(procs): a text about all processes, made while the machine is stopped. Called on a
/// dirty scheduler. Set by runtime/dump before main begins.
using ProcessesText = std::string (*)();
extern constinit ProcessesText processes_text;

/// {process_dump} of match specifications: a text about the calling process, which is about to
/// execute program_counter. returns_to: see stack_text. Set by runtime/dump before main begins.
using RunningProcessText = std::string (*)(Process& p, const Word* program_counter, const Word* returns_to);
extern constinit RunningProcessText running_process_text;

/// fun_info(Fun, refc): the number of fun objects that lead to this entry, plus one for its module.
/// Counted while the machine is stopped, by the dirty scheduler that runs the asking process. Set
/// by runtime/dump before main begins.
using FunReferences = Word (*)(const Process& asking, const FunEntry& entry);
extern constinit FunReferences fun_references;

/// {{node_references, Nodes}, {dist_references, Channels}}: what refers to nodes, for
/// erts_debug:get_internal_state/1 (dump/node_references.cpp). The rules of fun_references apply.
using NodeReferences = Term (*)(Process& asking);
extern constinit NodeReferences node_references;

/// Returns this node and each one that is or was connected to it, in the format of OTP's crash
/// dumps. Any thread.
std::string distribution_text();

/// Visits all persistent terms; writers are kept out meanwhile.
void for_each_persistent_term(const std::function<void(Term key, Term value)>& visit);

}  // namespace vmrun
