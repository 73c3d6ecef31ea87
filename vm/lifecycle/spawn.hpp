#pragma once

#include "vm/process/process.hpp"
#include "vm/process/process_state.hpp"

/// New processes. Called in the parent's thread, or at boot with no parent.
namespace vmrun {

inline constexpr SWord kMostArguments = 255;  // a function has no more

struct SpawnOptions {
  bool link = false;
  bool monitor = false;
  Term monitor_tag;  // with monitor: non-value for 'DOWN'
  AliasMode monitor_alias = AliasMode::kNone;
  std::uint8_t priority = 1;
  std::uint16_t scheduler = 0;  // the one that it is bound to; 0: none
  bool off_heap_messages = false;
  bool async_dist = false;
  bool max_heap_kill = true, max_heap_log = true;
  std::uint16_t fullsweep_after = 65535;
  Word min_heap_words = 0;
  Word max_heap_words = 0;
  Word min_bin_vheap_words = 0;
  Term as_given = Term::nil();                       // the option list of the program, for traces
  struct SpawnRequest* request = nullptr;            // of spawn_request
  const struct RemoteSpawn* remote_spawn = nullptr;  // in place of a parent here
};

/// A process of another node is the parent.
struct RemoteSpawn {
  Term parent, group_leader;  // copied
  std::uint8_t arity;
  /// With the new process, which is complete and cannot run before this returns.
  void (*announce)(void* context, Process& child);
  void* context;
};

/// spawn_request: the answer is a message {Tag, Id, ok, Pid}.
struct SpawnRequest {
  Term tag;
  bool answer;  // send that message
  RefKey key;   // of Id, and of the monitor if there is one
};

/// What spawn_opt leaves to the VM, and the limits `erl` has flags for. Set before processes run.
extern SpawnOptions spawn_defaults;

/// Starts module:function(arguments…); `arguments` is a proper list. A fun is started as
/// erlang:apply(Fun, []). There are at most kMostArguments of them. Returns the pid, or the
/// non-value when there are too many processes (system_limit; no exception set). With
/// options.monitor, *monitor_key is the monitor's identity.
/// With too_large, arguments that take half a millisecond and more to copy are not: the non-value,
/// and *too_large; the parent then spawns on a dirty scheduler, inside an EpochGuard.
Term spawn_process(Process* parent, Term module, Term function, Term arguments, const SpawnOptions& options,
                   RefKey* monitor_key = nullptr, bool* too_large = nullptr);

/// Group leader that processes without a parent start with.
void set_boot_group_leader(Term pid);

}  // namespace vmrun
