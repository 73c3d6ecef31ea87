#pragma once
// Code generation for one function: walks the blocks in order and gives registers to values on the
// fly. What is where at the start of a block is fixed by whoever goes there first; the others move
// things into place. Because blocks come after their predecessors, one pass suffices; only what has
// to be known before (liveness, wishes, which blocks run with a stack frame) is computed up front.
//
//  - x registers are lost in a call; a value needed afterwards is stored in a y register, at its
//    definition if a frame exists, else before the call.
//  - Wherever memory may be collected every x register below the "live" count holds a term; a hole
//    is filled by moving the topmost value down.
//  - y registers that are not written before the first collection are initialised where the frame
//    is made.
//
// One compilation, one thread.

#include <deque>
#include <map>
#include <string>
#include <tuple>
#include <unordered_map>

#include "runtime/compile/emit/asm.hpp"
#include "runtime/compile/ssa/liveness.hpp"
#include "runtime/compile/ssa/ssa.hpp"

namespace vmrun::compile {

/// Module-wide tables that functions add to.
class CodeBuilder {
 public:
  explicit CodeBuilder(Code& code) : code_(code) {}
  std::uint32_t import(Term module, Term name, std::uint32_t arity);
  std::uint32_t line(Loc loc);
  /// Index of a type; 0 for one that is not worth mentioning.
  std::uint32_t type(const ssa::Type& type);
  std::uint32_t string(std::span<const std::uint8_t> bytes);
  std::uint32_t new_label() { return code_.labels++; }
  Code& code() { return code_; }

 private:
  Code& code_;
  std::unordered_map<std::uint64_t, std::uint32_t> imports_;
  std::unordered_map<std::uint64_t, std::uint32_t> lines_;
  std::map<std::tuple<std::uint16_t, std::int64_t, std::int64_t>, std::uint32_t> types_;
};

/// Appends one function to the code. `entries` are the entry labels of all functions.
void generate_function(CodeBuilder& builder, ssa::Program& program, ssa::Function& fn,
                       const std::vector<std::uint32_t>& entries, std::uint32_t info_label);

}  // namespace vmrun::compile
