// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "vm/code/beam_file.hpp"
#include "vm/code/module.hpp"

/// The modules of the machine: which version is current and which is old; loading, deleting,
/// purging. There is one code server for the VM. All functions are thread-safe and may run while
/// other threads execute code: new code is complete before any export or fun leads to it. Versions
/// that the calling process may look at stay until it is between two slices.
namespace vmrun {

/// Finds modules that are called but not loaded. The runtime registers one; it knows files,
/// compilers and the embedded library.
class CodeSource {
 public:
  virtual ~CodeSource() = default;
  /// Fills `beam` with the module's bytes (.beam format) and `path` with where they are from.
  /// Returns false if there is no such module.
  virtual bool find(std::string_view module, std::vector<std::uint8_t>* beam, std::string* path) = 0;
  /// Finds a substitute for a module that `find` has found and that cannot be loaded. Returns false
  /// if there is no substitute.
  virtual bool find_substitute(std::string_view module, std::vector<std::uint8_t>* beam, std::string* path) {
    (void)module, (void)beam, (void)path;
    return false;
  }
  /// Whether `find` only reads memory, so that a scheduler may call it.
  virtual bool in_memory(std::string_view module) const {
    (void)module;
    return false;
  }
  /// Compiles the text of a module, shown as `name` in messages. Returns false when it fails;
  /// `messages` then says why.
  virtual bool compile(std::string_view name, std::string_view text, std::vector<std::uint8_t>* beam,
                       std::string* messages) {
    (void)name, (void)text, (void)beam;
    *messages = "there is no compiler";
    return false;
  }
  /// The place where `find` would take the module from; empty if it finds none.
  virtual std::string locate(std::string_view module) = 0;
  /// The places that are searched, in this order.
  virtual std::vector<std::string> path() = 0;
  virtual void set_path(std::vector<std::string> path) = 0;
};
/// The paths of the modules of the machine's own library begin with this.
inline constexpr std::string_view kEmbeddedPath = "embedded:";
void set_code_source(CodeSource* source);
CodeSource* code_source();  // nullptr: none

struct LoadResult {
  Module* module = nullptr;  // nullptr: failed
  Term reason;               // badfile, not_purged, on_load…
  std::string message;       // for people, with file, offset and cause
};

/// Checks and prepares a module; it is not visible to programs yet.
LoadResult prepare_module(const std::uint8_t* bytes, std::size_t size, std::string_view file);
/// Makes a prepared module the current version. The current version becomes old; the old one must
/// have been purged (else the reason is not_purged). A module with an on_load function waits, see
/// below.
LoadResult publish_module(Module* m);
/// Does this with the result of prepare_module for `file`, if that module's name is `expected`, or
/// `expected` is not an atom.
LoadResult publish_prepared(const LoadResult& prepared, Term expected, std::string_view file);
/// prepare_module and publish_prepared.
LoadResult load_module(Term expected, const std::uint8_t* bytes, std::size_t size, std::string_view file);
// ---- On_load functions ----
//
// A module with an on_load function becomes the current one only when that function has returned
// `ok`. The function runs in a process of its own, the runner; a process that calls the module
// meanwhile waits until the runner has ended. The protocol is written in
// runtime/lib/vmrun_on_load.erl.

enum class OnLoadWait {
  kNot,      // there is nothing to wait for
  kStart,    // not started: start a process that claims and runs it, and wait for that process
  kRunner,   // a process runs it
  kCircular  // the caller runs it itself, or the runner waits for something that only the caller can finish
};
/// What a process has to do before it calls a module. *runner: set to that process with kRunner. A
/// runner counts as waiting from here until it asks again.
OnLoadWait await_on_load(Term name, Term caller, Term* runner);
/// Makes a process the runner. Returns false if there is one already, or if there is no function to
/// run.
bool claim_on_load(Term name, Term runner);
/// Returns an export that leads to the on_load function, if the caller is its runner; the caller
/// becomes the runner when there is none. Returns nullptr for other processes.
Export* on_load_function(Term name, Term runner);
/// The runner has ended, and the function with it. With the result `ok` the module becomes the
/// current one. With any other result it is taken out again and returned, and the caller retires it
/// (reclaim.hpp); a warning is printed unless the result is an atom. Returns nullptr otherwise,
/// also when it is over already. A `runner` that is the non-value stands for any runner, for a
/// caller that has run the function itself.
[[nodiscard]] Module* finish_on_load(Term name, Term runner, Term result);

/// Finds the module through the code source and loads it, only once however many processes ask.
/// Returns false if it is not found or does not load (`message` says why).
bool autoload_module(Term name, std::string* message);
/// Whether autoload_module takes a scheduler no longer than a built-in function may: it neither
/// reads a file, nor compiles, nor waits for another thread.
bool autoload_is_quick(Term name);

Module* current_module(Term name);  // nullptr: not loaded
Module* pending_module(Term name);  // waits for its on_load function
Module* old_module(Term name);
bool was_published(Term name);  // whether any version ever was; all may be gone again
bool delete_module(Term name);  // current becomes old; false: not loaded, or there is old code already
/// Takes the old version out: no export and no fun leads to it any more. The caller retires it
/// (reclaim.hpp). Returns nullptr if there was none.
[[nodiscard]] Module* take_old_module(Term name);
/// Makes the funs of the old version lead to its code, or to nothing; funs that the current version
/// shares are left alone. While they lead to nothing, no process enters old code. Returns false if
/// there is no old version.
bool set_old_funs(Term name, bool lead_there);
/// Does set_old_funs(name, false). From now until end_purge, processes that call one of these funs
/// may wait (wait_for_purge).
bool begin_purge(Term name);
/// Makes a module whose on_load function has failed the old version until it is purged, since
/// processes may be in the middle of its code. Returns false if there is another old version.
bool keep_failed(Module* m);
/// Does begin_purge, if the old version is such a failed module.
bool begin_purge_of_failed(Term name);
/// Between begin_purge and end_purge of the module: suspends the process, and end_purge returns it.
/// Returns false at any other time.
bool wait_for_purge(Process& p, Term name);
/// Ends the purge. Returns the processes that have waited for it.
[[nodiscard]] std::vector<Term> end_purge(Term name);
std::vector<Module*> loaded_modules();
const std::string* module_path(Term name);
void set_module_path(Term name, std::string path);

/// Loaded code as text: one line for each instruction.
std::string disassemble(const Module& m);
/// The text of one instruction. Its length in words is added to *address.
std::string disassemble_instruction(const Word** address);

}  // namespace vmrun
