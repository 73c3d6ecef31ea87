// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

/// A compiled D script. vmtrace (or erltrace, in the machine) makes it from a text and sends it to
/// the machine that is traced, where the engine verifies and runs it. It is plain data that belongs
/// to its maker. Nothing here knows the language or the machine.
///
/// The bytes on the wire are described in docs/internals/d-engine.md; to_bytes and from_bytes below
/// write and read them. from_bytes only reads: the verifier decides whether a program may run
/// (program_verifier.hpp).
namespace vmrun::d {

inline constexpr std::uint32_t kProgramVersion = 4;

enum class Operation : std::uint8_t;  // operations.tab; probes/engine/operations.hpp is made from it

/// Numbers of probes that no target lists: every session has its own. ERROR's arguments are 0 and
/// the five words of a Fault. A tick or profile has the number kFirstTimerProbe + its index in
/// Program::timers.
inline constexpr std::uint32_t kFirstTimerProbe = 0xff000000;
inline constexpr std::uint32_t kBeginProbe = 0xffffff00;
inline constexpr std::uint32_t kEndProbe = 0xffffff01;
inline constexpr std::uint32_t kErrorProbe = 0xffffff02;
/// Named functions have three probes each. A clause waits for kFunctionProbes + the event, with
/// patterns. What fires is the probe of one function, with the number that the host has for it.
enum class FunctionEvent : std::uint8_t { kEntry, kReturn, kException };
inline constexpr std::uint32_t kFunctionEvents = 3;
inline constexpr std::uint32_t kFirstFunctionProbe = 100'000;
inline constexpr std::uint32_t kFunctionProbes = 0xfe000000;
inline constexpr std::uint32_t function_probe(std::uint32_t function, FunctionEvent event) {
  return kFirstFunctionProbe + 4 * function + static_cast<std::uint32_t>(event);
}
inline constexpr std::uint32_t any_function_probe(FunctionEvent event) {
  return kFunctionProbes + static_cast<std::uint32_t>(event);
}
inline constexpr bool is_function_probe(std::uint32_t number) {
  return number >= kFirstFunctionProbe && number < kFunctionProbes;
}
inline constexpr bool is_any_function_probe(std::uint32_t number) {
  return number >= kFunctionProbes && number < kFunctionProbes + kFunctionEvents;
}
inline constexpr std::uint32_t function_of_probe(std::uint32_t number) {
  return (number - kFirstFunctionProbe) / 4;
}
/// The event of a probe of either kind.
inline constexpr FunctionEvent event_of_probe(std::uint32_t number) {
  return static_cast<FunctionEvent>(number % 4);
}
static_assert(kFirstFunctionProbe % 4 == 0 && kFunctionProbes % 4 == 0);
/// The built-in `epid`: the number of a clause, counted from 1.
inline constexpr std::uint32_t epid(std::uint64_t clause) { return static_cast<std::uint32_t>(clause) + 1; }
/// The built-in `id`, and what -l shows: BEGIN, END and ERROR are 1 to 3, the target's follow;
/// timers, which only a script has, are far from them.
inline constexpr std::uint32_t probe_id(std::uint32_t number) {
  if (number >= kBeginProbe) return number - kBeginProbe + 1;
  if (number >= kFirstTimerProbe) return number - kFirstTimerProbe + 900'000;
  return number + 4;
}

struct Instruction {
  Operation operation;
  std::uint8_t a = 0, b = 0, c = 0;
  std::int32_t imm = 0;
};
static_assert(sizeof(Instruction) == 8);

/// Where the value of a variable lives.
enum class Scope : std::uint8_t { kGlobal, kSelf };

/// A variable that outlives a firing; this-> variables are bytes of a frame instead.
struct Variable {
  std::string name;
  Scope scope = Scope::kGlobal;
  bool associative = false;
  std::uint32_t bytes = 8;    // when it is 8 and not by_reference, the variable is an integer
  bool by_reference = false;  // a text, structure or array of `bytes` bytes
  bool is_text = false;       // by_reference: a text is copied up to its end only
};

enum class Aggregating : std::uint8_t {
  kCount,
  kSum,
  kAvg,
  kMin,
  kMax,
  kStddev,
  kQuantize,
  kLquantize,
  kLlquantize
};

struct Aggregation {
  std::string name;  // without @
  Aggregating how = Aggregating::kCount;
  // lquantize has base, limit and step; llquantize has factor, low, high and steps.
  std::int64_t parameters[4] = {};
  bool is_signed = true;
};

/// One action of a clause. The engine only passes its number on. Its meaning, its format and the
/// types of its fields are known to the consumer (Output in vmtrace).
struct Action {
  std::uint16_t clause = 0;
};

/// A tick-N, profile-N or wall-N that a clause waits for.
struct Timer {
  std::string name;  // tick-10ms
  std::uint64_t interval_ns = 0;
  bool profile = false;  // samples every thread of the machine, if the host can
  bool wall = false;     // counts the time that passes, not that of the processor
};

/// What a clause waits for.
struct Enabled {
  std::uint32_t probe = 0;  // number in the target's list of probes
  // For any_function_probe, these say which functions. They are globs, and an empty one means any.
  std::string module, function;
  std::int32_t arity = -1;
};

struct Clause {
  std::vector<Enabled> probes;
  std::vector<Instruction> predicate;  // it leaves its value in register 0; an empty one is always true
  std::vector<Instruction> body;
  bool makes_record = true;  // also true for an empty clause, for which dtrace without -q prints a line
};

/// Sizes and rates. Zero stands for the engine's default. A value beyond the engine's bounds is
/// refused with a reason.
struct Options {
  std::uint32_t strsize = 257;      // of a text with its NUL: one more than -x strsize
  std::uint64_t bufsize = 4 << 20;  // for each thread
  std::uint64_t aggsize = 4 << 20;
  std::uint64_t dynvarsize = 1 << 20;
  std::uint64_t specsize = 32 << 10;
  std::uint64_t scratchsize = 64 << 10;  // for all that one clause gets from alloca() and copyin()
  std::uint32_t nspec = 1;
  std::uint32_t stack_frames = 20, ustack_frames = 100;
  enum class Policy : std::uint8_t { kSwitch, kFill, kRing } policy = Policy::kSwitch;
  bool destructive = false;
  // The number by which the tracing program knows the process, in its own PID namespace. 0 stands
  // for the number that the process has for itself.
  std::uint32_t pid = 0;
};

struct Program {
  Options options;
  std::vector<std::uint64_t> constants;
  std::string texts;  // each ends with a NUL; offset 0 is the empty text
  std::vector<Variable> variables;
  std::vector<Aggregation> aggregations;
  std::vector<Action> actions;
  std::vector<Timer> timers;
  std::vector<Clause> clauses;
  std::uint32_t frame_bytes = 0;  // size of the this-> variables
};

std::string to_bytes(const Program& program);
/// Returns false and says why when the bytes are not a program of this version.
[[nodiscard]] bool from_bytes(std::string_view bytes, Program& program, std::string& why);

/// Returns one line for each instruction, as `vmtrace -S` shows it.
std::string disassemble(const Program& program);

}  // namespace vmrun::d
