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
/// - entry: its first instruction, where all calls arrive, in whatever way they were made;
/// - return: its return instructions. No frame is pushed, so calls of any depth and endless tail
///   recursion change nothing; a function that ends in a tail call, or with an exception, does not
///   return;
/// - a function that a native one has taken the place of: its first instruction is the native call;
/// - a built-in function: its export's code, and the instructions that call it directly. Those for
///   guards are operators and have no probes.
///
/// Code that is loaded later is looked at before anybody can call it. Breakpoints of call tracing
/// are entries that nobody but that knows of.
namespace vmrun {

struct Module;
struct NifFunction;

struct FunctionWatch {
  std::uint32_t function = 0;  // its number, the watcher's
  bool entry = false, returns = false;
};

struct FunctionFiring {
  Term process;
  std::uint32_t function;
  bool returns;
  Word depth;         // of the stack, words
  const Term* terms;  // entry: the arguments; return: the value, or none after an exception
  unsigned count;
  const Word* inside;  // an address in the function, when the process's ip is its caller's
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

 protected:
  ~FunctionWatcher() = default;
};
void set_function_watcher(FunctionWatcher& watcher);

/// Asks the watcher about all functions there are; what it says is so when this returns. Does
/// nothing without a watcher. Any thread.
void refresh_function_probes();
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

/// x: the arguments.
void fire_function_entry(Process& p, const Patch& patch, const Term* x, Word depth);
/// ip: an instruction that returns.
void fire_function_return(Process& p, const Word* ip, const Term* value, Word depth);
/// A breakpoint of a built-in function, if there is one.
void reach_breakpoint(Process& p, const Export& e, const Term* arguments, Word depth);
void fire_built_in_entry(Process& p, const Export& e, const Term* arguments, Word depth);
/// result: the non-value after an exception or a trap.
void fire_built_in_return(Process& p, const Export& e, Term result, Word depth);
void fire_nif_return(Process& p, const NifFunction& f, Term result);

}  // namespace vmrun
