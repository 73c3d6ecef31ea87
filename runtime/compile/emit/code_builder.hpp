// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <span>
#include <tuple>
#include <unordered_map>

#include "runtime/compile/emit/asm.hpp"
#include "vm/ir/ssa.hpp"

/// Tables of the module to which the code of functions adds. One compilation; one thread.
namespace vmrun::compile {

class CodeBuilder {
 public:
  explicit CodeBuilder(Code& code) : code_(code) {}
  std::uint32_t import(Term module, Term name, std::uint32_t arity);
  std::uint32_t line(Loc loc);
  /// Returns the index of a type; 0 for one that is not worth recording.
  std::uint32_t type(const ir::Type& type);
  std::uint32_t string(std::span<const std::uint8_t> bytes);
  std::uint32_t new_label() { return code_.labels++; }
  Code& code() { return code_; }

 private:
  Code& code_;
  std::unordered_map<std::uint64_t, std::uint32_t> imports_;
  std::unordered_map<std::uint64_t, std::uint32_t> lines_;
  std::map<std::tuple<std::uint16_t, std::int64_t, std::int64_t>, std::uint32_t> types_;
};

}  // namespace vmrun::compile
