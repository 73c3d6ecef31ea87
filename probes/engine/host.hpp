// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "probes/engine/program.hpp"
#include "probes/engine/record.hpp"

/// What the engine needs from its environment. That is the machine (probes/attach), or nothing at
/// all (vmtrace without a target: BEGIN, END, tick and profile).
namespace vmrun::d {

/// How the argument of a probe is handed over. These are the kinds of probes.tab.
enum class ArgumentKind : std::uint8_t {
  kPid,
  kCaller,
  kPort,
  kFunction,
  kTerm,
  kIolist,
  kText,
  kNode,
  kInt,
  kUint32,
  kInt64
};

struct ProbeArgument {
  std::string name;
  ArgumentKind kind;
};

/// A probe as scripts name it.
struct ProbeInfo {
  std::string provider, module, function, name;  // erlang4711, vmrun, -, message-send
  std::vector<ProbeArgument> arguments;
  bool of_function = false;  // a probe of a named function: targs are what the function takes or gives
};

/// Returns the provider's name for a consumer that knows the process by the number `pid`, say
/// erlang17 for erlang1. The name stays as it is when pid is 0 or the name has no number.
std::string provider_of(std::string_view name, std::uint64_t pid);

/// Returns what all probes of named functions have in common.
const ProbeInfo& function_probe_info(FunctionEvent event);

/// Functions of Erlang as a description names them. Module and function are globs, and an empty one
/// means any; arity -1 means any.
struct FunctionPattern {
  std::string module, function;
  std::int32_t arity = -1;
};
struct FunctionName {
  std::string_view module, function;
  unsigned arity = 0;
};

/// One firing. It lives on the firing thread's stack. Each argument is one word: a number, the word
/// of a term, or the address of what the kind says (for a function, of a
/// vmrun::probe::FunctionArgument).
struct Firing {
  std::uint32_t probe;
  std::uint32_t argument_count;
  const std::uint64_t* arguments;
  const ArgumentKind* kinds;
};

/// Describes a text that was put to `out` in an encoding at hand: the encoding and how many bytes
/// it took. `out` has room for `room` bytes. A plain text that is longer is cut; anything else that
/// is longer becomes kNull.
struct EncodedArgument {
  Encoding shape;
  std::size_t bytes;
};

class Session;

class Host {
 public:
  virtual ~Host() = default;

  /// Returns all probes; the number of a probe is its index. The list is filled once, before the
  /// first session.
  virtual const std::vector<ProbeInfo>& probes() const = 0;

  // The firing thread calls these functions. They do not block or allocate.
  virtual EncodedArgument encoded_argument(const Firing& f, unsigned n, char* out, std::size_t room) = 0;
  /// Returns an argument as an integer: itself, or a word that is the same for the same process,
  /// port or function.
  virtual std::uint64_t argument_number(const Firing& f, unsigned n) { return f.arguments[n]; }
  /// Puts an argument as a text, ended by a NUL, and returns its length, or -1 when there is no
  /// text (a null pointer in D).
  virtual std::ptrdiff_t argument_text(const Firing& f, unsigned n, char* out, std::size_t room) = 0;
  /// Returns a number that is the same for the same process or thread and is never used again. The
  /// self-> variables belong to it.
  virtual std::uint64_t self_key(const Firing& f) = 0;
  /// Built-in variables that the machine provides; builtins.tab says which these are.
  virtual std::uint64_t builtin_number(unsigned builtin, const Firing& f) = 0;
  virtual EncodedArgument builtin_encoded(unsigned builtin, const Firing& f, char* out, std::size_t room) = 0;
  /// Puts a built-in variable as a text, ended by a NUL, when a script computes with it. Returns
  /// its length, or -1 when there is no text.
  virtual std::ptrdiff_t builtin_text(unsigned builtin, const Firing& f, char* out, std::size_t room) {
    return -1;
  }
  /// Whether a filter from add_functions lets this firing of a function through.
  virtual bool function_passes(std::uint32_t filter, const Firing& f) { return false; }
  /// Returns the name of a function that a filter has let through, in texts that stay. A
  /// controlling thread may call it too.
  virtual FunctionName function_name(std::uint32_t function) { return {}; }
  /// Puts the addresses of instructions of the firing process's stack, innermost first, and returns
  /// how many.
  virtual std::size_t stack(const Firing& f, std::uint64_t* out, std::size_t most) = 0;
  // A term is a word that the engine never looks into. These functions return false for a bad
  // argument.
  virtual bool argument_term(const Firing& f, unsigned n, std::uint64_t& term) = 0;
  virtual bool builtin_term(unsigned builtin, const Firing& f, std::uint64_t& term) { return false; }
  virtual bool term_part(unsigned subroutine, std::uint64_t term, std::int64_t n, std::uint64_t& out) = 0;
  /// Looks a key up in a map. A number stands for an integer; a text stands for the atom of that
  /// name, or else for a binary. The value is 0 when the map has no such key. Returns false when it
  /// is not a map.
  virtual bool map_value(std::uint64_t map, std::int64_t key, std::uint64_t& out) { return false; }
  virtual bool map_value(std::uint64_t map, std::string_view key, std::uint64_t& out) { return false; }
  virtual bool term_number(unsigned subroutine, std::uint64_t term, std::int64_t& out) = 0;
  virtual std::size_t term_text(std::uint64_t term, char* out, std::size_t room) = 0;

  /// Puts the text of ufunc(), usym(), uaddr() or umod() for any number. Returns its length, or 0
  /// when the number is not an address of code.
  virtual std::size_t code_text(unsigned subroutine, std::uint64_t address, char* out, std::size_t room) {
    return 0;
  }

  // A controlling thread calls these functions. A probe fires as long as a session has it enabled.
  virtual void enable(std::uint32_t probe) = 0;
  virtual void disable(std::uint32_t probe) = 0;
  /// Makes a filter for one event of the functions that a pattern names, now or later. Returns 0,
  /// with `why`, when it is refused.
  virtual std::uint32_t add_functions(const FunctionPattern& pattern, FunctionEvent event, std::string& why) {
    why = "this target has no functions";
    return 0;
  }
  /// Turns the firings of these filters' functions on or off. Calls pass a filter only from
  /// start_functions on.
  virtual void enable_functions(const std::vector<std::uint32_t>& filters, bool on) {}
  /// The session takes firings from now on: calls that begin later pass, with their entries and
  /// ends.
  virtual void start_functions(const std::vector<std::uint32_t>& filters) {}
  /// Counts, each once, the functions that these filters would let through if not so many functions
  /// were watched already.
  virtual std::uint64_t untraced_functions(const std::vector<std::uint32_t>& filters) { return 0; }
  /// Removes the filters. Numbers of functions that no filter knows any more may be given to
  /// others.
  virtual void remove_functions(const std::vector<std::uint32_t>& filters) {}
  /// Returns the functions that a filter would let through now, `most` at most.
  virtual std::vector<FunctionName> functions(const FunctionPattern& pattern, std::size_t most) { return {}; }
  /// Whether this target can count the firings of its probes; see counting.hpp.
  virtual bool counts_firings() const { return false; }
  /// Used in place of enable and disable when only the number of firings is wanted.
  virtual void enable_count(std::uint32_t probe) {}
  virtual void disable_count(std::uint32_t probe) {}
  /// Reads how often each probe has ever fired while it was counted; the counts of each thread are
  /// in the order of time. Only differences are meaningful; they stay right when a count passes
  /// 2^64.
  virtual void read_counts(std::span<const std::uint32_t> probes, std::span<std::uint64_t> counts) {}
  /// Starts a profile-N (of each thread's processor time) or wall-N of the session. From now on the
  /// host has session.fire(this probe) called for each sample, in any thread. Returns false when
  /// the session has to fire the probe itself, in the controlling thread.
  virtual bool start_sampling(Session& session, std::uint32_t probe, std::uint64_t interval_ns, bool wall) {
    return false;
  }
  /// Stops all samplings that have been started. The samples taken so far are fired before it
  /// returns.
  virtual void stop_sampling(Session& session) {}
  /// Called now and then while samplings run. before_ticks: clauses that look at samples are about
  /// to run.
  virtual void look_after_samples(bool before_ticks) {}
  /// A wall-N has become due `times` times since the last call.
  virtual void sample_wall(Session& session, std::uint32_t probe, std::uint32_t times) {}
  /// Returns when no thread is inside a firing that began before the call. Every firing that begins
  /// later sees what the caller stored before: the call is a full fence against them.
  virtual void wait_for_firings() = 0;
  /// Returns the name as Erlang writes it, in quotes where it needs them.
  virtual std::string atom_name(std::uint64_t number) = 0;
  /// Returns the number of the atom with this index, or 0 when there is none. Atoms are numbered as
  /// they are made.
  virtual std::uint64_t atom_number(std::uint32_t index) { return 0; }
  /// Returns m:f/a (file:line) of an instruction. It is empty when the instruction is unknown or
  /// not known any more.
  virtual std::string address_name(std::uint64_t address) = 0;
};

}  // namespace vmrun::d
