// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "vm/process/code_view.hpp"
#include "vm/process/process_state.hpp"

/// The last calls of a process (process_flag(save_calls, N)): calls of exported functions and
/// built-in ones, and its sends, receives and timeouts. Such a process runs the traced instructions
/// (interpreter.cpp), so others pay nothing. Called in the thread that runs the process.
namespace vmrun {

inline constexpr SWord kMostSavedCalls = 10000;

/// Begins anew with room for `most` calls; 0: none are saved. Returns the room that there was
/// before. Takes effect from the next slice on.
unsigned save_calls(Process& p, unsigned most);
inline bool saves_calls(const Process& p) { return p.observed & kSavesCalls; }

// Called while p saves calls and is not sensitive.
[[gnu::cold]] void save_call(Process& p, const FunctionName& f);
[[gnu::cold]] void save_event(Process& p, Term what);

/// Returns what process_info shows: [{Module, Function, Arity} | send | 'receive' | timeout], the
/// latest last; or false.
Term saved_calls(const Process& p, Heap& out);

void free_saved_calls(struct SavedCalls* calls);  // nullptr is allowed

}  // namespace vmrun
