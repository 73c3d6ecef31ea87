#pragma once

#include <cstdint>

#include "vm/term/term.hpp"

/// The machine's own instructions as data: layouts for the loader and the disassembler. Made from
/// instructions.tab. An instruction is a 16-bit operation, followed by operands packed into as few
/// 64-bit words as alignment allows, followed by its list if it has one.
namespace vmrun {

struct InstructionRow {
  const char* name;
  const char* kinds;        // a letter per operand, see instructions.tab
  std::uint8_t fields[16];  // byte offset of each operand
  std::uint8_t words;       // without the list
  std::uint8_t built_in;    // byte offset of the export of the built-in function it calls; 0: none
  std::uint8_t flags;
  static constexpr std::uint8_t kEnds = 1, kRaises = 2;
  // goes back (its only jump) to an instruction that begins nothing anew
  static constexpr std::uint8_t kAgain = 8;
  static constexpr std::uint8_t kEntry = 16;  // its last word belongs to the instruction that follows
};
struct FusionRow {
  std::uint16_t first, second, fused;
};

namespace op {
extern const InstructionRow kInstructions[];
extern const std::uint16_t kVariants[];     // of all families, one family after another
extern const std::uint16_t kFamilyStart[];  // index into kVariants
extern const char* const kFamilyNames[];
extern const FusionRow kFusions[];          // sorted
extern const std::uint16_t kFusionStart[];  // by the first: index into kFusions
}  // namespace op

/// Sources and destinations that are decoded when executed: registers are words with a header's
/// tag, everything else is the term itself.
inline constexpr Word encode_any_x(Word n) { return n << 4; }
inline constexpr Word encode_any_y(Word n) { return n << 4 | 4; }
inline constexpr std::uint16_t kDestinationY = 0x8000;

/// Heap needs carry the stack reserve already; this bit makes the check fail always
/// (collect-at-every-allocation mode).
inline constexpr std::uint32_t kNeedAlways = 1u << 30;

/// What bs_create_bin's segments are, as the loader encodes them: word 0 type | flags << 8 | unit
/// << 16 | position << 32, then source and size.
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

/// Word form of an operation without operands.
inline constexpr Word bare_operation(std::uint16_t operation) { return operation; }

}  // namespace vmrun

#include "vm/code/instructions_generated.hpp"
