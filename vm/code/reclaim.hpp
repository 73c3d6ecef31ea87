// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>

#include "vm/heap/literal.hpp"
#include "vm/process/process.hpp"

/// Frees what processes may still refer to although nothing else leads to it any more: literals of
/// persistent terms that were replaced, and purged code with its literals.
///
/// What is retired waits until there is enough of it; then it becomes a batch. A batch goes through
/// two rounds. In each round every process is asked once, and does its part in its own thread
/// between two slices:
///   1. It sees the batch's literals as leaving (literal.hpp): from here on it copies them into
///      what it sends. It checks whether it is in the middle of retired code, which then must wait
///      for another batch.
///   2. It looks for references to the batch's literals in its heap, stack and mailbox. If there
///      are any, it takes copies of the literals in with a collection. Since all processes have
///      been through the first round, none can reach the literals afterwards.
/// A round is over when all have answered and every thread has passed a quiescent state (epochs);
/// the latter covers processes on their way out. After the second round the memory is free.
/// Processes are asked a few at a time, and a process that answers asks the next one, so no thread
/// waits and no thread does all the work.
///
/// Processes made meanwhile need not be asked: other processes have copied what they start with.
/// Dirty native functions delay a batch until they return. (OTP: "literal area collector", erts
/// internal documentation; thread progress.)
namespace vmrun {

struct Module;

/// Retires literals that only processes refer to. Any thread.
void retire_literals(LiteralBlock* block);
/// Retires code that only stacks lead into. free: called once no process is in it, if there is
/// anything else to be freed then. Any thread.
void retire_module(Module* m, std::function<void()> free = {});
/// Calls `free` once no process is in the middle of a built-in function that it is in now. bytes:
/// about how much memory that frees. Any thread.
void retire(Word bytes, std::function<void()> free);

/// Returns the number of bytes that wait to be freed. Any thread.
Word retired_bytes();
/// For built-in functions that retire much. When too much waits, calls suspend_and_retry and
/// returns true. All retired memory that can be freed is free when p goes on.
[[nodiscard]] bool wait_for_reclaim(Process& p, bool no_room = false);

/// From now on this process is sent the message copy_literals when something has been retired. It
/// then calls give_back_all, so nothing waits until there is much of it. Called before processes
/// run.
void set_literal_collector(Term pid);
/// Does what wait_for_reclaim does, until only code in use waits.
[[nodiscard]] bool give_back_all(Process& p);

// What lower layers call through process/process_upcalls.hpp; it says what they do.

std::int32_t take_part_in_reclaim(Process* p);
void hold_reclaim();
void release_reclaim();
bool runs_old_code(const Process& p, Term module);

/// Whether p is in the middle of this code, or of functions that its native ones have scheduled:
/// its next instruction lies there, or one that it will return to. Called in the thread that runs
/// p, or while p is scheduled out and cannot run.
bool is_inside(const Process& p, const Module& m);

}  // namespace vmrun
