// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

/// The bytes that go from a firing to its consumer: records, and keys of aggregations. Both are
/// made of words of 64 bits in the machine's byte order, and describe themselves.
///
/// A record is a Record, then its actions: each a word with its number, then its fields in the
/// order of the script. A field (and each element of a key) is
///
///   integer    one word (fi, keyi): nothing says so, for the script's types do
///   encoded    one word Encoding | bytes << 32, then that many bytes, filled up to whole words
///
/// An encoding is what the machine has at hand, so that no text is made at the firing. The consumer
/// makes the text, and asks the machine once for the names of atoms and addresses (Host::atom_name,
/// Host::address_name).
/// (Host::name_of_atom...).
namespace vmrun::d {

struct Record {
  std::uint32_t bytes;  // size with this head; a multiple of 8
  std::uint16_t clause;
  std::uint16_t flags;
  std::uint64_t timestamp;  // ns since an arbitrary point, as the built-in of that name
  std::uint32_t probe;      // number in the target's list
  std::uint32_t cpu;        // number of the scheduler, or of the thread
  // The words of the actions follow.
};
static_assert(sizeof(Record) == 24);

inline constexpr std::uint16_t kRecordFault = 1;  // ERROR: the words are a Fault

enum class Encoding : std::uint32_t {
  kNull,      // no text: (null)
  kText,      // the bytes of a text, without its end
  kPid,       // number, serial: <0.Number.Serial>
  kPort,      // number: #Port<0.Number>
  kFunction,  // numbers of the atoms of module and function, arity: m:f/a
  kAtom,      // number of an atom
  kBytes,     // the bytes of a structure, for tracemem
  kStack,     // addresses of instructions, innermost first
};

/// What went wrong, as dtrace numbers it (DTRACEFLT_*). It is one of arg1 to arg5 of ERROR.
enum class FaultKind : std::uint64_t {
  kUnknown,
  kBadAddress,
  kBadAlignment,
  kIllegalOperation,
  kDivideByZero,
  kNoScratch,
  kKernelAddress,
  kUserAddress,
  kTupleOverflow,
  kBadStack
};
/// action: 0 is the predicate; else it is the clause's last action that had begun, counted within
/// the clause from 1, or 1 when none had begun.
struct Fault {
  std::uint64_t clause, action, offset;  // offset: that of the instruction
  FaultKind kind;
  std::uint64_t address;
};

/// Why something was dropped. Each thread counts, and the consumer adds the counts up.
enum class Drop : std::uint8_t {
  kPrincipal,
  kAggregation,
  kDynamic,
  kSpeculation,
  kSpeculationBusy,
  kSpeculationUnavailable,
  kStack,
  kFunction,  // a named function that is not watched, because the limit of watched ones is reached
  kCount
};

}  // namespace vmrun::d
