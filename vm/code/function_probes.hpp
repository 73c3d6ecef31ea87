// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <span>

#include "vm/code/patches.hpp"
#include "vm/process/bif.hpp"
#include "vm/term/term.hpp"

/// Probes of functions by name. Each watched function has its own probes; they cost nothing
/// anywhere else. What fires is attached to the function's code (patches.hpp):
///
/// - of a function: to its first instruction, where all calls arrive, however they are made. When a
///   native function has replaced it, that instruction is the native call;
/// - of a built-in function: to its export's code, and to the instructions that call it directly.
///   Built-in functions for guards are operators and have no probes.
///
/// A call whose end is awaited is recorded with the depth of the stack, and returns through code of
/// the machine's own (trace/calls_under_way.hpp). It ends with the return, of any function, that
/// leaves the stack at that depth, or with the exception that unwinds further. So a function that
/// ends in a call of another returns when that one does, and tail calls stay tail calls.
///
/// Code that is loaded later is examined before it can be called. Breakpoints of call tracing are
/// entries too, which only call tracing knows.
namespace vmrun {

struct Module;

struct FunctionWatch {
  std::uint32_t function = 0;  // the number that the watcher gave it
  bool entry = false;
  bool end = false;  // return or exception
};

struct FunctionFiring {
  enum class Event : std::uint8_t { kEntry, kReturn, kException };
  Term process;
  std::uint32_t function;
  Event event;
  Word depth;         // of the stack at the call, words
  const Term* terms;  // the arguments; the value; class and reason
  unsigned count;
  const Word* inside;   // an address in the function, when the process's ip is its caller's
  std::uint32_t watch;  // the newest one when the call began
};

/// Watches functions. There is one for the VM (probes/attach); it is never freed.
class FunctionWatcher {
 public:
  // These two are called one at a time, in the thread that asks for it or that loads code.

  /// Whether functions of this module may be watched; the next calls are about this module.
  virtual bool begin_module(Term name) = 0;
  virtual FunctionWatch watch(Term function, unsigned arity) = 0;

  /// Called in the thread that runs the process, whose stack is stored. It does not block, collect
  /// or allocate.
  virtual void fire(const FunctionFiring& f) = 0;

  /// Whether the end of such a call is still awaited. Any thread, without a lock.
  virtual bool awaits_end(std::uint32_t function, std::uint32_t watch) = 0;

 protected:
  ~FunctionWatcher() = default;
};
void set_function_watcher(FunctionWatcher& watcher);
/// Asks the watcher, whom a call under way has met. Any thread.
bool is_end_awaited(std::uint32_t function, std::uint32_t watch);

/// Asks the watcher about all functions; its answers are in force when this returns. Does nothing
/// without a watcher. Any thread.
void refresh_function_probes();
/// A watcher that begins gives its watch a number before it refreshes; numbers grow. Calls that
/// began during an earlier watch end without it. Only one thread at a time changes the number.
std::uint32_t newest_watch();
void begin_watch(std::uint32_t number);
/// Called when a watch has ended: processes drop the calls whose end is not awaited any more. They
/// do so when they run next, or soon if they wait. Any thread.
void forget_unawaited_calls();
/// Puts the breakpoints of call tracing (trace/call_pattern.hpp) into the code; they stand in the
/// same places. Any thread.
void use_breakpoints();
/// Puts native calls in the place of functions' first instructions, or takes them out; then does
/// what refresh_function_probes does. Any thread.
void replace_operations(std::span<const NewOperation> all);
/// Calls `see` for each function that can be watched, of all versions of the modules that are
/// wanted, built-in ones included. It holds a lock, so neither argument may call functions of this
/// header.
void each_probed_function(const std::function<bool(Term module)>& wanted,
                          const std::function<void(Term module, Term function, unsigned arity)>& see);

// Called by module.cpp: when code is registered, and before it is freed. forget_probes_of returns
// what is to be freed with the code ranges.
void probe_new_code(const Module& m);
/// The module has no current version any more: removes what call tracing has set for it. Any
/// thread, without a lock.
void forget_breakpoints_of(Term module);
[[nodiscard]] const PatchTable* forget_probes_of(const Module& m);

// Firing. Called by the interpreter and by dirty schedulers, with an epoch; does nothing for
// functions that are not watched.

/// A call begins. x: the arguments. A watched end takes a word of the stack.
void begin_call(Process& p, const Patch& patch, const Term* x, Word depth);
/// A function returns to the address on top of the stack, which is stored: ends of calls fire.
/// Returns false when there are so many of them that the slice should end first; it is then called
/// again. Does nothing when the ends are not awaited any more.
[[nodiscard]] bool end_calls(Process& p, Term value);
/// The process's exception leaves all calls that lie deeper than `depth`. ip: where it was raised;
/// nullptr: in a function that was called last.
void fail_calls(Process& p, const Word* ip, Word depth, bool is_caught);
/// Reaches a breakpoint of a built-in function, if there is one.
void reach_breakpoint(Process& p, const Export& e, const Term* arguments, Word depth);
void begin_built_in(Process& p, const Export& e, const Term* arguments, Word depth);
/// result: the non-value after an exception or a trap, or when the built-in will be called again.
void end_built_in(Process& p, const Export& e, Term result, Word depth);
/// The built-in goes on as another function, with the return address on top of the stack.
void built_in_goes_on(Process& p, const Export& e);

}  // namespace vmrun
