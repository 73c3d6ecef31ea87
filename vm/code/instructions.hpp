// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "vm/term/term.hpp"

/// The machine's bytecode instructions as data: layouts for the loader and the disassembler, made
/// from instructions.tab. An instruction is a 16-bit operation, followed by its operands, packed
/// into as few 64-bit words as alignment allows, followed by its list if it has one.
namespace vmrun {

struct InstructionRow {
  const char* name;
  const char* kinds;        // a letter per operand, see instructions.tab
  std::uint8_t fields[16];  // byte offset of each operand
  std::uint8_t words;       // without the list
  std::uint8_t built_in;    // byte offset of the export of the built-in function it calls; 0: none
  std::uint8_t flags;
  static constexpr std::uint8_t kEnds = 1, kRaises = 2;
  // its only jump goes back to an instruction; that jump does not count as a call
  static constexpr std::uint8_t kAgain = 8;
  static constexpr std::uint8_t kEntry = 16;  // its last word belongs to the instruction that follows
};
struct FusionRow {
  std::uint16_t first, second, fused;
};

namespace op {
enum class Family : std::uint16_t;
}

/// One of the instructions that a fused one consists of, or the instruction itself. Its operands
/// follow those of the part before.
struct PartRow {
  op::Family family;
  std::uint16_t operands;
};
/// A bit for each operand of a family's instructions: those that are read, those that are written,
/// and the one that says how many x registers are live.
struct OperandUse {
  std::uint16_t read, written, live;
};

namespace op {
extern const InstructionRow kInstructions[];
extern const std::uint16_t kVariants[];     // of all families, one family after another
extern const std::uint16_t kFamilyStart[];  // index into kVariants
extern const char* const kFamilyNames[];
extern const PartRow kParts[];              // of all operations, one after another
extern const std::uint16_t kPartStart[];    // by operation: index into kParts
extern const OperandUse kOperandUses[];     // by family
extern const FusionRow kFusions[];          // sorted
extern const std::uint16_t kFusionStart[];  // by the first: index into kFusions
}  // namespace op

/// Sources and destinations that are decoded when they are executed. Registers are words with a
/// header's tag; everything else is the term itself.
inline constexpr Word encode_any_x(Word n) { return n << 4; }
inline constexpr Word encode_any_y(Word n) { return n << 4 | 4; }
inline constexpr std::uint16_t kDestinationY = 0x8000;

/// Heap needs include the stack reserve already. With this bit the check always fails
/// (collect-at-every-allocation mode).
inline constexpr std::uint32_t kNeedAlways = 1u << 30;

/// The kinds of segments of bs_create_bin, as the loader encodes them: word 0 is type | flags << 8
/// | unit << 16 | position << 32; the source and the size follow.
enum class BinarySegment : std::uint8_t {
  kInteger,
  kFloat,
  kBinary,
  kString,
  kUtf8,
  kUtf16,
  kUtf32,
  kAppend,
  kPrivateAppend
};

/// An operation without operands as a word.
inline constexpr Word bare_operation(std::uint16_t operation) { return operation; }

}  // namespace vmrun

#include "vm/code/instructions_generated.hpp"
