// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "vm/process/process.hpp"
#include "vm/process/process_state.hpp"

/// New processes. Called in the thread that runs the parent, or at boot without a parent.
namespace vmrun {

inline constexpr SWord kMostArguments = 255;  // a function has no more

struct SpawnOptions {
  bool link = false;
  bool monitor = false;
  Term monitor_tag;  // with monitor: non-value for 'DOWN'
  AliasMode monitor_alias = AliasMode::kNone;
  bool priority_link = false, priority_monitor = false;  // see message/priority.hpp
  std::uint8_t priority = 1;
  std::uint16_t scheduler = 0;  // the scheduler that it is bound to; 0: not bound
  bool off_heap_messages = false;
  bool async_dist = false;
  std::uint16_t fullsweep_after = 65535;
  Word min_heap_words = 0;
  MaxHeap max_heap;
  Word min_bin_vheap_words = 0;
  Term as_given = Term::nil();                       // the option list of the program, for traces
  struct SpawnRequest* request = nullptr;            // for spawn_request
  const struct RemoteSpawn* remote_spawn = nullptr;  // instead of a parent on this node
};

/// The parent is a process of another node.
struct RemoteSpawn {
  Term parent, group_leader;  // copied
  std::uint8_t arity;
  /// Called with the new process, which is complete and cannot run before this returns.
  void (*announce)(void* context, Process& child);
  void* context;
};

/// spawn_request: the answer is a message {Tag, Id, ok, Pid}.
struct SpawnRequest {
  Term tag;
  bool answer;  // whether that message is sent
  RefKey key;   // the key of Id, and of the monitor if there is one
};

/// The options that spawn_opt leaves open, and the limits that `erl` has flags for. Set before
/// processes run.
extern SpawnOptions spawn_defaults;

/// Starts module:function(arguments…). `arguments` is a proper list of at most kMostArguments. A
/// fun is started as erlang:apply(Fun, []). Returns the pid, or the non-value when there are too
/// many processes (system_limit; no exception set). With options.monitor, *monitor_key is the
/// monitor's identity.
/// With too_large, arguments that take half a millisecond or more to copy are not copied: it
/// returns the non-value and sets *too_large; the parent then spawns on a dirty scheduler, inside
/// an EpochGuard.
Term spawn_process(Process* parent, Term module, Term function, Term arguments, const SpawnOptions& options,
                   RefKey* monitor_key = nullptr, bool* too_large = nullptr);

/// Sets the group leader of processes without a parent.
void set_boot_group_leader(Term pid);

}  // namespace vmrun
