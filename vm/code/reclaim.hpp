#pragma once

#include <functional>

#include "vm/heap/literal.hpp"
#include "vm/process/process.hpp"

/// Giving back what processes may still refer to although nothing leads to it any more: literals of
/// persistent terms that were replaced, purged code with its literals.
///
/// What is retired waits until it is worth the work; then it is a batch. A batch goes through two
/// rounds. In each, every process is asked once, and does its part in its own thread between two
/// slices:
///   1. It sees the batch's literals as leaving (literal.hpp): from here on it copies them into
///      what it sends. It looks whether it is in the middle of retired code, which then must wait
///      for another batch.
///   2. It looks for references to the batch's literals, in its heap, stack and mailbox, and when
///      there are any takes copies in with a collection. Since all have been through the first
///      round, none can reach it afterwards.
/// A round is over when all have answered and every thread has passed a quiescent state (epochs),
/// which takes care of processes on their way out. Then the memory is free. Processes are asked a
/// few at a time, and whoever answers asks the next one: no thread waits and none does it all.
///
/// Processes made meanwhile need not be asked: what they start with has been copied by others.
/// Dirty native functions hold a batch up until they return. (OTP: "literal area collector", erts
/// internal documentation; thread progress.)
namespace vmrun {

struct Module;

/// Nothing leads to these literals any more, but from processes. Any thread.
void retire_literals(LiteralBlock* block);
/// Nothing leads into this code any more, but from stacks. free: called once nobody is in it, if
/// there is anything else to be freed then. Any thread.
void retire_module(Module* m, std::function<void()> free = {});
/// Calls `free` once no process is in the middle of a built-in function that it was in now. bytes:
/// what that gives back, about. Any thread.
void retire(Word bytes, std::function<void()> free);

/// Bytes that wait to be freed. Any thread.
Word retired_bytes();
/// For built-in functions that retire much: when too much waits, suspend_and_retry is said, and the
/// result is true. All retired memory that can be is free when p goes on.
[[nodiscard]] bool wait_for_reclaim(Process& p, bool no_room = false);

/// From now on this process is sent the message copy_literals when something has been retired, and
/// calls give_back_all then: so nothing waits until it is much. Before processes run.
void set_literal_collector(Term pid);
/// As wait_for_reclaim, until nothing waits but code in use.
[[nodiscard]] bool give_back_all(Process& p);

/// p is in the middle of this code, functions that its native ones have scheduled included: its
/// next instruction or one it will return to. In p's own thread or while it is scheduled out and
/// cannot run.
bool is_inside(const Process& p, const Module& m);

}  // namespace vmrun
