#pragma once

#include <atomic>
#include <cstdint>
#include <string>
#include <vector>

#include "vm/bif.hpp"
#include "vm/term/term.hpp"

/// Exported functions, fun entries and loaded modules. Entries never move or go away: a call
/// through an export is one load. Code goes when nothing leads to it and no process is in it
/// (reclaim.hpp). Any thread; see code_server.hpp for loading.
namespace vmrun {

struct Module;
struct LiteralBlock;

/// Three words in front of every function's first instruction; they are the func_info instruction
/// that raises function_clause.
struct FunctionHeader {
  std::uint16_t operation;
  std::uint16_t arity;
  std::uint32_t nif;  // which native function replaces this one (see nif/call.hpp); 0: none ever did
  Term module, function;
  const Word* entry() const { return reinterpret_cast<const Word*>(this + 1); }
};
static_assert(sizeof(FunctionHeader) == 24);
inline const FunctionHeader* header_of_entry(const Word* entry) {
  return reinterpret_cast<const FunctionHeader*>(entry) - 1;
}

/// M:F/A as callers see it, created at first mention (by a loader or an external fun) whether or
/// not the function exists.
struct Export {
  Term module, function;
  std::uint8_t arity = 0;
  std::uint8_t bif_flags = 0;
  BifFn bif = nullptr;  // not null: a built-in; `address` then points to code that calls it
  std::atomic<const Word*> address{
      nullptr};  // never null after creation: an undefined function's entry loads the module or raises undef
  /// What `address` points to while there is no loaded code: an instruction of its own, with a
  /// header in front like any function.
  struct Stub {
    FunctionHeader header;
    std::uint16_t operation;
    Export* self;
  } stub;
  const Word* stub_code() const { return stub.header.entry(); }
};

/// Sets what calls of an export reach: loaded code, or with nullptr its stub again. A built-in
/// stays one.
void set_export_code(Export& e, const Word* address);

/// The one entry for M:F/A. Thread-safe.
Export* export_entry(Term module, Term function, unsigned arity);
/// One that no look-up finds, for functions the machine makes up; its stub is what it leads to.
/// Thread-safe.
Export* hidden_export(Term module, Term function, unsigned arity);
/// nullptr when never mentioned.
Export* find_export(Term module, Term function, unsigned arity);
/// Defined now: loaded code or BIF.
bool is_defined(const Export& e);
std::vector<Export*> all_exports();

/// A `fun` expression in a module's code; all versions of the same module with the same uniq share
/// it.
struct FunEntry {
  Term module;
  std::uint32_t index = 0;
  std::uint32_t old_uniq = 0;
  std::uint8_t uniq[16] = {};
  std::uint8_t arity = 0;  // parameters a caller passes (without the free variables)
  std::uint32_t free_count = 0;
  Term function;                              // name of the lifted function, '-f/1-fun-0-'
  std::atomic<const Word*> address{nullptr};  // nullptr: the code is not loaded
};

/// Found or made. Thread-safe.
FunEntry* fun_entry(Term module, const std::uint8_t* uniq, std::uint32_t index, std::uint32_t old_uniq,
                    unsigned arity, std::uint32_t free_count);

struct SourceLocation {
  const std::string* file = nullptr;  // nullptr: not known
  std::uint32_t line = 0;
};

/// One loaded version of a module. Built by the loader, then never changed.
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
  std::string strings;  // constant bytes that instructions point into

  const Word* begin() const { return code.data(); }
  const Word* end() const { return code.data() + code.size(); }
};

/// The function an address lies in (as a resume or return address), stubs of exports included;
/// nullptr for the machine's own code.
const FunctionHeader* function_header_at(const Word* address);
/// The loaded version an address lies in; nullptr: none.
const Module* module_at(const Word* address);
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
