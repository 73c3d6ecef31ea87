#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "vm/process/process.hpp"
#include "vm/term/fun.hpp"

/// Items of system_info that speak of the machine's inside: texts for people, and what there is of
/// allocators, descriptors and tables.
namespace vmrun {

/// Nothing when there is no such item. May collect.
std::optional<Term> inside_info(Process& p, std::string_view name);

/// system_info(procs): a text of all processes, made while nobody else runs. On a dirty scheduler.
/// Filled in by runtime/dump before main begins.
using ProcessesText = std::string (*)();
extern constinit ProcessesText processes_text;

/// {process_dump} of match specifications: the calling process, which is about to execute
/// program_counter. returns_to: see stack_text. Filled in by runtime/dump before main begins.
using RunningProcessText = std::string (*)(Process& p, const Word* program_counter, const Word* returns_to);
extern constinit RunningProcessText running_process_text;

/// fun_info(Fun, refc): how many fun objects lead to this entry, and one for the module that has
/// it. Counted while nobody else runs, by the dirty scheduler of the process that asks. Filled in
/// by runtime/dump before main begins.
using FunReferences = Word (*)(const Process& asking, const FunEntry& entry);
extern constinit FunReferences fun_references;

/// {{node_references, Nodes}, {dist_references, Channels}}: who refers to nodes, as
/// erts_debug:get_internal_state/1 tells it (dump/node_references.cpp). The same rules.
using NodeReferences = Term (*)(Process& asking);
extern constinit NodeReferences node_references;

/// This node and each that is or was connected to it, as crash dumps of OTP's have them. Any
/// thread.
std::string distribution_text();

/// With writers kept out.
void for_each_persistent_term(const std::function<void(Term key, Term value)>& visit);

}  // namespace vmrun
