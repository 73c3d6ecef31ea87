#pragma once

#include <functional>
#include <string>
#include <vector>

#include "vm/code/beam_file.hpp"
#include "vm/code/module.hpp"

/// The modules of the machine: which is current, which is old; loading, deleting, purging. One for
/// the VM; all functions are thread-safe, and may run while other threads execute code: new code is
/// complete before any export or fun leads to it. Versions that calling process may look at stay
/// until it is between two slices.
namespace vmrun {

/// Where modules come from that are called but not loaded. The runtime registers one: it knows
/// files, compilers and the embedded library.
class CodeSource {
 public:
  virtual ~CodeSource() = default;
  /// Fills `beam` with the module's bytes (.beam format), `path` with where they are from. False:
  /// there is no such module.
  virtual bool find(std::string_view module, std::vector<std::uint8_t>* beam, std::string* path) = 0;
  /// What stands in for a module that `find` has found and that cannot be loaded. False: nothing.
  virtual bool find_substitute(std::string_view module, std::vector<std::uint8_t>* beam, std::string* path) {
    (void)module, (void)beam, (void)path;
    return false;
  }
  /// Whether find only has to look into memory: a scheduler may call it.
  virtual bool in_memory(std::string_view module) const {
    (void)module;
    return false;
  }
  /// Compiles the text of a module, shown as `name` in messages. False: `messages` says what is
  /// wrong.
  virtual bool compile(std::string_view name, std::string_view text, std::vector<std::uint8_t>* beam,
                       std::string* messages) {
    (void)name, (void)text, (void)beam;
    *messages = "there is no compiler";
    return false;
  }
  /// Where `find` would take the module from; empty: nowhere.
  virtual std::string locate(std::string_view module) = 0;
  /// What is searched, in this order.
  virtual std::vector<std::string> path() = 0;
  virtual void set_path(std::vector<std::string> path) = 0;
};
/// What the paths of the modules of the machine's own library begin with.
inline constexpr std::string_view kEmbeddedPath = "embedded:";
void set_code_source(CodeSource* source);
CodeSource* code_source();  // nullptr: none

struct LoadResult {
  Module* module = nullptr;  // nullptr: failed
  Term reason;               // badfile, not_purged, on_load…
  std::string message;       // for people, with file, offset and cause
};

/// Checks and prepares a module; nothing is visible to programs yet.
LoadResult prepare_module(const std::uint8_t* bytes, std::size_t size, std::string_view file);
/// Makes a prepared module the current version; what was current becomes old, what was old must
/// have been purged (else not_purged). A module with an on_load function waits, see below.
LoadResult publish_module(Module* m);
/// The same with what prepare_module has returned for `file`, if that module's name is `expected`,
/// or `expected` is no atom.
LoadResult publish_prepared(const LoadResult& prepared, Term expected, std::string_view file);
/// prepare_module and publish_prepared.
LoadResult load_module(Term expected, const std::uint8_t* bytes, std::size_t size, std::string_view file);
// ---- On_load functions ----
//
// A module with an on_load function is not the current one until that has returned `ok`. It runs in
// a process of its own, the runner; whoever calls the module meanwhile waits for that one's end.
// The protocol is written in runtime/lib/vmrun_on_load.erl.

enum class OnLoadWait {
  kNot,      // nothing is left to wait for
  kStart,    // nobody runs it: start a process that claims and runs it, and wait for that one
  kRunner,   // a process runs it
  kCircular  // the caller runs it itself, or the runner waits for what only the caller can finish
};
/// What a process has to do before it calls a module. *runner: with kRunner, that process. A runner
/// counts as waiting from here until it asks again.
OnLoadWait await_on_load(Term name, Term caller, Term* runner);
/// Makes a process the runner; false: there is one, or nothing is to be run.
bool claim_on_load(Term name, Term runner);
/// For its runner, which the caller becomes when there is none: an export that leads to the
/// function; nullptr for others.
Export* on_load_function(Term name, Term runner);
/// The runner has ended, and the function with it: result `ok` makes the module the current one,
/// anything else takes it out again, with a warning unless it is an atom: the caller retires it
/// (reclaim.hpp). nullptr otherwise, also when it is over already. Without a runner: whichever it
/// is, for the one who has seen to the call himself.
[[nodiscard]] Module* finish_on_load(Term name, Term runner, Term result);

/// Finds the module through the code source and loads it, once however many processes ask. False:
/// not found, or it does not load (`message` says why).
bool autoload_module(Term name, std::string* message);
/// Whether that takes a scheduler no longer than a built-in function may: nothing is read or
/// compiled, nor does it wait for another thread.
bool autoload_is_quick(Term name);

Module* current_module(Term name);  // nullptr: not loaded
Module* pending_module(Term name);  // waits for its on_load function
Module* old_module(Term name);
bool was_published(Term name);  // once: all of it may be gone again
bool delete_module(Term name);  // current becomes old; false: not loaded, or there is old code already
/// Forgets the old version: no export and no fun leads to it any more. The caller retires it
/// (reclaim.hpp). nullptr: there was none.
[[nodiscard]] Module* take_old_module(Term name);
/// Whether funs lead to the old version's code, as far as the current one does not share them.
/// While they do not, no process comes into old code. False: there is no old version.
bool set_old_funs(Term name, bool lead_there);
/// set_old_funs(name, false), and processes that call one of them may wait (wait_for_purge) until
/// end_purge.
bool begin_purge(Term name);
/// A module whose on_load function has failed becomes the old version, until it is purged:
/// processes may be in the middle of its code. False: there is another old version.
bool keep_failed(Module* m);
/// begin_purge, if the old version is such a module.
bool begin_purge_of_failed(Term name);
/// Between begin_purge and end_purge of the module: the process is suspended, and end_purge tells
/// of it. False at any other time.
bool wait_for_purge(Process& p, Term name);
/// Who has waited.
[[nodiscard]] std::vector<Term> end_purge(Term name);
std::vector<Module*> loaded_modules();
const std::string* module_path(Term name);
void set_module_path(Term name, std::string path);

/// Loaded code as text: a line per instruction.
std::string disassemble(const Module& m);
/// One instruction; its words are added to *address.
std::string disassemble_instruction(const Word** address);

}  // namespace vmrun
