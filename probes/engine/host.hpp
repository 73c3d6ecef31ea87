#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "probes/engine/program.hpp"
#include "probes/engine/record.hpp"

/// What the engine needs of where it runs: the machine (probes/attach), or nothing at all (vmtrace
/// without a target: BEGIN, END, tick and profile).
namespace vmrun::d {

/// How the argument of a probe is handed over: the kinds of probes.tab.
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
  bool of_function = false;  // by name: targs are what the function takes or gives
};

/// erlang17 for erlang1: the provider's name for who knows the process by the number 17. 0, or a
/// name without a number: the same name.
std::string provider_of(std::string_view name, std::uint64_t pid);

/// What the probes of functions by name have in common.
const ProbeInfo& function_probe_info(FunctionEvent event);

/// Functions of Erlang as a description names them: globs, empty means any; arity -1: any.
struct FunctionPattern {
  std::string module, function;
  std::int32_t arity = -1;
};
struct FunctionName {
  std::string_view module, function;
  unsigned arity = 0;
};

/// One firing. Lives on the firing thread's stack. arguments: a word each; a number, the word of a
/// term, or the address of what the kind says (a function: vmrun::probe::FunctionArgument).
struct Firing {
  std::uint32_t probe;
  std::uint32_t argument_count;
  const std::uint64_t* arguments;
  const ArgumentKind* kinds;
};

/// A text in whatever form is at hand: a shape and its bytes, put to `out` (room for `room` bytes);
/// returns how many. More than `room` is cut for texts, and kNull for all else.
struct EncodedArgument {
  Encoding shape;
  std::size_t bytes;
};

class Session;

class Host {
 public:
  virtual ~Host() = default;

  /// The probes there are; the number of one is its index. Filled once, before the first session.
  virtual const std::vector<ProbeInfo>& probes() const = 0;

  // In the firing thread, without blocking or allocating.
  virtual EncodedArgument encoded_argument(const Firing& f, unsigned n, char* out, std::size_t room) = 0;
  /// As an integer: itself, or a word that is the same for the same process, port or function.
  virtual std::uint64_t argument_number(const Firing& f, unsigned n) { return f.arguments[n]; }
  /// The same as a text, ended by a NUL; its length. -1: there is none (a null pointer in D).
  virtual std::ptrdiff_t argument_text(const Firing& f, unsigned n, char* out, std::size_t room) = 0;
  /// A number that is the same for the same process or thread and never used again: what self->
  /// variables belong to.
  virtual std::uint64_t self_key(const Firing& f) = 0;
  /// Built-ins that are the machine's: builtins.tab says which.
  virtual std::uint64_t builtin_number(unsigned builtin, const Firing& f) = 0;
  virtual EncodedArgument builtin_encoded(unsigned builtin, const Firing& f, char* out, std::size_t room) = 0;
  /// The same as a text ended by a NUL, when a script computes with it; its length, -1: none.
  virtual std::ptrdiff_t builtin_text(unsigned builtin, const Firing& f, char* out, std::size_t room) {
    return -1;
  }
  /// Functions by name: whether a filter that add_functions gave lets this firing through.
  virtual bool function_passes(std::uint32_t filter, const Firing& f) { return false; }
  /// One that a filter has let through, in texts that stay. Also in a controlling thread.
  virtual FunctionName function_name(std::uint32_t function) { return {}; }
  /// Addresses of instructions of the firing process's stack, innermost first; how many.
  virtual std::size_t stack(const Firing& f, std::uint64_t* out, std::size_t most) = 0;
  // Terms: a word the engine never looks into. False: bad argument.
  virtual bool argument_term(const Firing& f, unsigned n, std::uint64_t& term) = 0;
  virtual bool builtin_term(unsigned builtin, const Firing& f, std::uint64_t& term) { return false; }
  virtual bool term_part(unsigned subroutine, std::uint64_t term, std::int64_t n, std::uint64_t& out) = 0;
  /// The value of a key in a map: of an integer; of an atom, else a binary, of this text. The value
  /// is 0 where there is no such key. False: it is no map.
  virtual bool map_value(std::uint64_t map, std::int64_t key, std::uint64_t& out) { return false; }
  virtual bool map_value(std::uint64_t map, std::string_view key, std::uint64_t& out) { return false; }
  virtual bool term_number(unsigned subroutine, std::uint64_t term, std::int64_t& out) = 0;
  virtual std::size_t term_text(std::uint64_t term, char* out, std::size_t room) = 0;

  /// ufunc(), usym(), uaddr(), umod() of any number: the length of the text; 0: it is no address of
  /// code.
  virtual std::size_t code_text(unsigned subroutine, std::uint64_t address, char* out, std::size_t room) {
    return 0;
  }

  // In a controlling thread. A probe is told to fire as long as somebody asked for it.
  virtual void enable(std::uint32_t probe) = 0;
  virtual void disable(std::uint32_t probe) = 0;
  /// Functions by name: a filter for one event of those that there are or will be. 0 and `why`: it
  /// is refused.
  virtual std::uint32_t add_functions(const FunctionPattern& pattern, FunctionEvent event, std::string& why) {
    why = "this target has no functions";
    return 0;
  }
  /// Whether these filters' functions fire. Calls pass a filter only from start_functions on.
  virtual void enable_functions(const std::vector<std::uint32_t>& filters, bool on) {}
  /// The session takes firings now: calls that begin from here on pass, entries and ends.
  virtual void start_functions(const std::vector<std::uint32_t>& filters) {}
  /// Functions that these filters would let through, were not so many watched already: each once.
  virtual std::uint64_t unwatched_functions(const std::vector<std::uint32_t>& filters) { return 0; }
  /// Numbers of functions that no filter knows any more may be given to others.
  virtual void remove_functions(const std::vector<std::uint32_t>& filters) {}
  /// Those that a filter would let through now, at most so many.
  virtual std::vector<FunctionName> functions(const FunctionPattern& pattern, std::size_t most) { return {}; }
  /// Whether this target counts the firings of its probes for who asks; see counting.hpp.
  virtual bool counts_firings() const { return false; }
  /// Instead of enable and disable: only the number of firings is wanted.
  virtual void enable_count(std::uint32_t probe) {}
  virtual void disable_count(std::uint32_t probe) {}
  /// How often each has fired while somebody counted it, ever; each thread's in the order of time.
  /// Differences are what counts, also beyond 2^64.
  virtual void read_counts(std::span<const std::uint32_t> probes, std::span<std::uint64_t> counts) {}
  /// A profile-N (of each thread's processor time) or wall-N of the session: from now on the host
  /// has session.fire(this probe) called, in whatever thread, for each sample. False: the session
  /// fires it itself, in the controlling thread.
  virtual bool start_sampling(Session& session, std::uint32_t probe, std::uint64_t interval_ns, bool wall) {
    return false;
  }
  /// All that have been started; what they have found so far is fired before it returns.
  virtual void stop_sampling(Session& session) {}
  /// Now and then while there are any; before_ticks: clauses that look at them are about to run.
  virtual void look_after_samples(bool before_ticks) {}
  /// A wall-N has been due so many times since.
  virtual void sample_wall(Session& session, std::uint32_t probe, std::uint32_t times) {}
  /// Returns when no thread is inside a firing that began before the call. What the caller stored
  /// before is seen by every firing that begins later: a full fence against them.
  virtual void wait_for_firings() = 0;
  /// As Erlang writes it, in quotes where it needs them.
  virtual std::string atom_name(std::uint64_t number) = 0;
  /// The number of the atom with this index; atoms are numbered as they are made. 0: there is none.
  virtual std::uint64_t atom_number(std::uint32_t index) { return 0; }
  /// m:f/a (file:line) of an instruction; empty when it is not known (any more).
  virtual std::string address_name(std::uint64_t address) = 0;
};

}  // namespace vmrun::d
