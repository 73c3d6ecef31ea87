#pragma once

#include <atomic>
#include <cstdint>
#include <string>
#include <vector>

#include "vm/process/bif.hpp"
#include "vm/term/fun.hpp"
#include "vm/term/term.hpp"

/// Loaded modules, and what exports (fun.hpp) lead to. Code goes when nothing leads to it and no
/// process is in it (reclaim.hpp). Any thread; see code_server.hpp for loading.
namespace vmrun {

struct Module;
struct LiteralBlock;
struct NifLibrary;

/// Fills the export table before any module is loaded.
void register_bifs(const BifRow* rows, std::size_t count);

/// Sets what calls of an export reach: loaded code, or with nullptr its stub again. A built-in
/// stays one.
void set_export_code(Export& e, const Word* address);

/// Defined now: loaded code or BIF.
bool is_defined(const Export& e);
/// erlang:apply/2 or apply/3, which are instructions.
bool is_apply(const Export& e);

struct SourceLocation {
  const std::string* file = nullptr;  // nullptr: not known
  std::uint32_t line = 0;
};

/// One loaded version of a module. Built by the loader, then never changed but for its library.
struct Module {
  struct LineEntry {
    std::uint32_t word, file, line;
  };  // from this word of code on
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
  LiteralBlock* literals = nullptr;
  std::uint32_t version = 0;  // all code is numbered in the order of registering
  std::uint8_t md5[16] = {};
  std::string strings;                        // constant bytes that instructions point into
  std::atomic<NifLibrary*> library{nullptr};  // of native functions; set at most once, by vm/nif

  const Word* begin() const { return code.data(); }
  const Word* end() const { return code.data() + code.size(); }
  /// Where the instructions of the n-th function end.
  const Word* end_of_function(std::size_t n) const {
    return n + 1 < functions.size() ? begin() + functions[n + 1] : end();
  }
};

/// The function an address lies in (as a resume or return address), stubs of exports included;
/// nullptr for the machine's own code.
const FunctionHeader* function_header_at(const Word* address);
/// The loaded version an address lies in; nullptr: none.
const Module* module_at(const Word* address);
/// All of the versions that code is in, those that nothing leads to any more and those not yet
/// current included. They are listed until unregister_code.
std::vector<const Module*> registered_modules();
/// Adds a module's code to what function_header_at and location_at know.
void register_code(Module& m);
/// The opposite. With what it returns the caller calls free_code_ranges once nobody is in the
/// middle of looking an address up.
[[nodiscard]] const struct CodeRanges* unregister_code(const Module& m);
void free_code_ranges(const CodeRanges* ranges);
/// Number of the newest code. An address that was seen while it was n means nothing in a module
/// with a higher number: what lay there then is gone.
std::uint32_t newest_code();
/// Memory of a loaded version without its literals.
Word module_bytes(const Module& m);
/// Frees it with its literals: nothing refers to either, and it is not registered.
void delete_module_code(Module* m);
/// Source position of the instruction at this address.
SourceLocation location_at(const Word* address);

}  // namespace vmrun
