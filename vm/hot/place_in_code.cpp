// SPDX-License-Identifier: Apache-2.0
#include "vm/hot/place_in_code.hpp"

#include <algorithm>
#include <atomic>
#include <cstring>

#include "vm/base/debugger_facts.hpp"
#include "vm/code/hot_code.hpp"
#include "vm/code/instructions.hpp"
#include "vm/hot/loop_code.hpp"
#include "vm/jit/processor.hpp"

#if defined(__x86_64__)

/// A function of the unwinder of gcc and clang: it finds the entry of .eh_frame that describes an
/// address.
extern "C" {
struct dwarf_eh_bases {
  void* tbase;
  void* dbase;
  void* func;
};
const void* _Unwind_Find_FDE(void* pc, dwarf_eh_bases* bases);
}

namespace vmrun {
namespace {

using x86::Bytes;

/// Machine code from one address up to another.
struct Range {
  Bytes begin = nullptr, end = nullptr;
  bool holds(const void* pc) const { return pc >= begin && pc < end; }
};

/// The function, or the part of one, that the address lies in. In .eh_frame, as compilers write it
/// for x86-64, its length stands in the four bytes behind the length of the entry, its parent and
/// the address (System V ABI, "EH frame").
Range range_around(const void* pc) {
  dwarf_eh_bases bases{};
  const void* const entry = _Unwind_Find_FDE(const_cast<void*>(pc), &bases);
  if (!entry || !bases.func) return {};
  std::uint32_t bytes;
  std::memcpy(&bytes, static_cast<const char*>(entry) + 12, sizeof bytes);
  const Range r{static_cast<Bytes>(bases.func), static_cast<Bytes>(bases.func) + bytes};
  return r.holds(pc) ? r : Range{};
}

/// The loop, and the part of it that the compiler has put aside because it is rarely executed.
struct Loop {
  Range usual, rare;
};
Loop loop;
ErlangRegisters registers;
std::atomic<bool> is_known{false};

/// Conditional jumps stay in a function: one that leads out of the part leads to the other one.
Range other_part(const Range& part) {
  for (Bytes pc = part.begin; part.holds(pc);) {
    x86::Instruction in;
    if (!x86::decode(pc, &in)) {
      ++pc;
      continue;
    }
    if (in.is_conditional_jump() && in.is_direct() && !part.holds(in.target()))
      return range_around(in.target());
    pc = in.next();
  }
  return {};
}

bool read_loop() {
  const void* const* const table = loop_cases.load(std::memory_order_relaxed);
  if (!table) return false;
  const std::span cases(table, op::kOpCount);
  LoopCode code;
  if (!look_at_loop(cases, &code)) return false;
  Loop read;
  read.usual = range_around(cases[op::jump]);
  if (!read.usual.begin) return false;
  read.rare = other_part(read.usual);
  const auto is_there = [&](const void* at) { return read.usual.holds(at) || read.rare.holds(at); };
  if (!std::ranges::all_of(cases, is_there)) return false;
  loop = read;
  registers = {code.at, code.stack, jit::kStackNumber};
  return true;
}

}  // namespace

bool find_places_in_code(ErlangRegisters* out) {
  if (!is_known.load(std::memory_order_acquire)) {
    if (!read_loop()) return false;
    is_known.store(true, std::memory_order_release);
  }
  *out = registers;
  return true;
}

bool is_in_loop(const void* pc) { return loop.usual.holds(pc) || loop.rare.holds(pc); }

void tell_debuggers_of_loop(const void* function) {
  const Range range = range_around(function);
  add_debugger_fact("loop.begin", range.begin);
  add_debugger_fact("loop.end", range.end);
  // The cases that show which registers the loop keeps what in (loop_code.cpp).
  add_debugger_fact("loop.cases", &loop_cases);
  add_debugger_fact("loop.jump", op::jump);
  add_debugger_fact("loop.move_yx", op::move_yx);
}

}  // namespace vmrun

#else

namespace vmrun {

bool find_places_in_code(ErlangRegisters*) { return false; }
bool is_in_loop(const void*) { return false; }
void tell_debuggers_of_loop(const void*) {}

}  // namespace vmrun

#endif
