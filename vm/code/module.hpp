// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "vm/process/bif.hpp"
#include "vm/term/fun.hpp"
#include "vm/term/term.hpp"

/// Loaded modules, and what exports (fun.hpp) lead to. Code is freed when nothing leads to it and
/// no process is in it (reclaim.hpp). Any thread; see code_server.hpp for loading.
namespace vmrun {

struct Module;
struct LiteralBlock;
struct NifLibrary;

/// Fills the export table before any module is loaded.
/// Makes those functions exist that the release has.
void register_bifs(const BifRow* rows, std::size_t count);

/// Writes what calls of an export do while it has no code. apply is two instructions of its own.
void make_stub(Export& e);

/// Sets what calls of an export reach: loaded code, or with nullptr its stub again. An export of a
/// built-in function is left as it is.
void set_export_code(Export& e, const Word* address);

/// Whether it is defined now: loaded code or BIF.
bool is_defined(const Export& e);
/// Whether it is erlang:apply/2 or apply/3, which are instructions.
bool is_apply(const Export& e);

struct SourceLocation {
  const std::string* file = nullptr;  // nullptr: not known
  std::uint32_t line = 0;
};

/// What code that is loaded from now on counts: calls of functions, or executions of lines. With
/// `counters` the number is reported, otherwise whether there was one. Without a mode the code has
/// no instruction for it.
enum class CoverageMode : std::uint8_t { kNone, kFunction, kFunctionCounters, kLine, kLineCounters };
inline std::atomic<CoverageMode> coverage_mode{CoverageMode::kNone};

/// The counters of a module, which its code adds to.
struct Coverage {
  struct Line {
    std::uint32_t function, line, id;  // function: index; id: what the compiler calls the line
  };
  CoverageMode mode = CoverageMode::kNone;
  std::deque<Word> counters;  // of functions, or of lines; they do not move
  std::vector<Line> lines;    // of counters of lines, in the order of the code

  bool counts_lines() const { return mode >= CoverageMode::kLine; }
};

/// One loaded version of a module. The loader builds it; only its library, its counters and the
/// operations of its instructions change afterwards.
struct Module {
  struct LineEntry {
    std::uint32_t word, file, line;
  };  // from this word of code on
  struct LineBreakpoint {
    std::uint32_t word, line;
  };  // its instruction
  struct ExportedFunction {
    Export* entry;
    const Word* address;
  };

  Term name;
  std::vector<Word> code;
  std::vector<std::uint32_t> functions;  // word offset of each function's header, ascending
  std::vector<std::uint32_t> native;     // likewise, of those declared by -nifs; empty: any may be native
  std::vector<LineEntry> lines;          // ascending
  std::vector<std::string> files;
  std::vector<ExportedFunction> exports;
  std::vector<FunEntry*> funs;
  std::vector<const Word*> fun_addresses;  // of `funs`
  const Word* on_load = nullptr;
  Term attributes, compile_info;  // literals
  Term debug_info;                // literal: code:get_debug_info/1
  // Ascending. Without takes_line_breakpoints the code was not loaded for a debugger.
  std::vector<LineBreakpoint> line_breakpoints;
  bool takes_line_breakpoints = false;
  std::vector<Term> records;  // literals, see native_records.hpp
  LiteralBlock* literals = nullptr;
  std::uint32_t version = 0;  // all code is numbered in the order of registering
  std::uint8_t md5[16] = {};
  std::unique_ptr<Coverage> coverage;         // nullptr: nothing is counted
  std::string strings;                        // constant bytes that instructions point into
  std::atomic<NifLibrary*> library{nullptr};  // of native functions; set at most once, by vm/nif

  const Word* begin() const { return code.data(); }
  const Word* end() const { return code.data() + code.size(); }
  /// Where the instructions of the n-th function end.
  const Word* end_of_function(std::size_t n) const {
    return n + 1 < functions.size() ? begin() + functions[n + 1] : end();
  }
};

/// Returns the function that an address lies in (as a resume or return address), stubs of exports
/// included; nullptr for the machine's own code.
const FunctionHeader* function_header_at(const Word* address);
/// Returns the loaded version that an address lies in, or nullptr.
const Module* module_at(const Word* address);
/// Returns all versions that are registered, those that nothing leads to any more and those not yet
/// current included. They stay registered until unregister_code.
std::vector<const Module*> registered_modules();
/// Adds a module's code to what function_header_at and location_at find.
void register_code(Module& m);
/// Removes it again. The caller passes the result to free_code_ranges once no thread is in the
/// middle of looking an address up.
[[nodiscard]] const struct CodeRanges* unregister_code(const Module& m);
void free_code_ranges(const CodeRanges* ranges);
/// Returns the number of the newest code. An address that was seen while this was n means nothing
/// in a module with a higher number: the code that lay there then is gone.
std::uint32_t newest_code();
/// Memory of a loaded version without its literals, in bytes.
Word module_bytes(const Module& m);
/// Frees a version with its literals, unless the compiler reads it: then that does so. Nothing else
/// refers to either, and it is not registered.
void delete_module_code(Module* m);
void tell_debuggers_of_code();  // vm/base/debugger_facts.hpp
/// Returns the source position of the instruction at this address.
SourceLocation location_at(const Word* address);

}  // namespace vmrun
