#pragma once

#include <cstdint>
#include <functional>
#include <span>

#include "vm/code/patches.hpp"
#include "vm/process/bif.hpp"
#include "vm/term/term.hpp"

/// Probes of functions by name: those of a function that is watched are its own, and cost nothing
/// anywhere else. What fires is put to the function's code (patches.hpp):
///
/// - a function: its first instruction, where all calls arrive, in whatever way they were made.
///   When it has been replaced by a native one, that is the native call;
/// - a built-in function: its export's code, and the instructions that call it directly. Those for
///   guards are operators and have no probes.
///
/// A call whose end is awaited is remembered with the depth of the stack, and returns by way of
/// code of the machine's own (trace/calls_under_way.hpp). It ends with the return, of whatever
/// function, that leaves the stack at that depth, or with the exception that unwinds further: so a
/// function that ends in a call of another returns with that one, and tail calls stay tail calls.
///
/// Code that is loaded later is looked at before anybody can call it. Breakpoints of call tracing
/// are entries that nobody but that knows of.
namespace vmrun {

struct Module;

struct FunctionWatch {
  std::uint32_t function = 0;  // its number, the watcher's
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

/// Who watches functions: one for the VM (probes/attach), never freed.
class FunctionWatcher {
 public:
  // One at a time, in the thread that asks for it or loads code.

  /// Whether functions of this module may be watched; the next calls are about it.
  virtual bool begin_module(Term name) = 0;
  virtual FunctionWatch watch(Term function, unsigned arity) = 0;

  /// In the thread that runs the process, whose stack is stored. Neither blocks, nor collects, nor
  /// allocates.
  virtual void fire(const FunctionFiring& f) = 0;

  /// Whether anybody still wants to know how such a call ends. Any thread, without a lock.
  virtual bool awaits_end(std::uint32_t function, std::uint32_t watch) = 0;

 protected:
  ~FunctionWatcher() = default;
};
void set_function_watcher(FunctionWatcher& watcher);

/// Asks the watcher about all functions there are; what it says is so when this returns. Does
/// nothing without a watcher. Any thread.
void refresh_function_probes();
/// A watcher that begins gives its watch a number, in order, before it refreshes: calls that began
/// during an earlier watch end without it. One thread at a time changes it.
std::uint32_t newest_watch();
void begin_watch(std::uint32_t number);
/// Somebody has stopped watching: processes forget the calls whose end nobody awaits any more when
/// they run next, or soon if they wait. Any thread.
void forget_unawaited_calls();
/// Puts the breakpoints of call tracing (trace/call_pattern.hpp), which live in the same places,
/// to the code. Any thread.
void use_breakpoints();
/// Native calls take the place of functions' first instructions, or give it back; then as
/// refresh_function_probes. Any thread.
void replace_operations(std::span<const NewOperation> all);
/// Calls `see` for each function that can be watched, of all versions of the modules that are
/// wanted, built-in ones included. With a lock: neither may come back here.
void each_probed_function(const std::function<bool(Term module)>& wanted,
                          const std::function<void(Term module, Term function, unsigned arity)>& see);

// Of module.cpp, when code is registered, and before it is freed. The latter returns what is to be
// freed with the code ranges.
void probe_new_code(const Module& m);
/// There is no current version of the module any more: what call tracing says of it goes. Any
/// thread, without a lock.
void forget_breakpoints_of(Term module);
[[nodiscard]] const PatchTable* forget_probes_of(const Module& m);

// Firing. Of the interpreter and of dirty schedulers, with an epoch; nothing where nobody watches.

/// A call begins. x: the arguments. A watched end takes a word of the stack.
void begin_call(Process& p, const Patch& patch, const Term* x, Word depth);
/// A function returns to what is on top of the stack, which is stored: ends of calls fire.
/// False: there are more of them, so many that the slice should end first; to be called again.
/// Does nothing when nobody awaits them any more.
[[nodiscard]] bool end_calls(Process& p, Term value);
/// An exception, the process's, leaves all that lies deeper than `depth`. ip: where it was raised;
/// nullptr: in a function that was called last.
void fail_calls(Process& p, const Word* ip, Word depth, bool is_caught);
/// A breakpoint of a built-in function, if there is one.
void reach_breakpoint(Process& p, const Export& e, const Term* arguments, Word depth);
void begin_built_in(Process& p, const Export& e, const Term* arguments, Word depth);
/// result: the non-value after an exception or a trap, or when it will be called again.
void end_built_in(Process& p, const Export& e, Term result, Word depth);
/// It goes on as another function, with the return address on top of the stack.
void built_in_goes_on(Process& p, const Export& e);

}  // namespace vmrun
