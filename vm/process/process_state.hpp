#pragma once

#include <vector>

#include "vm/base/small_limits.hpp"
#include "vm/process/aliases.hpp"
#include "vm/process/process.hpp"
#include "vm/process/relations.hpp"

/// What a process carries besides the essentials: dictionary, links, monitors, aliases, receive
/// markers, requests. Allocated on first use; touched by the process's own thread only.
namespace vmrun {

/// put/get/erase. Entries lie densely (so that a collection visits one range); an index is built
/// once there are more than a few.
class Dictionary {
 public:
  ~Dictionary();
  std::size_t size() const { return size_; }
  Term key(std::size_t i) const { return pairs_[2 * i]; }
  Term value(std::size_t i) const { return pairs_[2 * i + 1]; }
  Term* terms() { return pairs_; }

  Term get(Term key) const;        // undefined if absent
  Term put(Term key, Term value);  // old value or undefined
  Term erase(Term key);            // same
  void clear();
  std::size_t memory_bytes() const { return capacity_ * 16 + index_size_ * 4; }

 private:
  static constexpr std::uint32_t kLinear = usual_or_small<std::uint32_t>(8, 2);
  std::int64_t find(Term key, std::uint32_t hash) const;
  void index_insert(std::uint32_t hash, std::uint32_t position);
  void index_erase(std::uint32_t hash, std::uint32_t position);
  void rebuild_index();

  Term* pairs_ = nullptr;
  std::uint32_t* hashes_ = nullptr;
  std::uint32_t* index_ = nullptr;  // position + 1; open addressing
  std::uint32_t size_ = 0, capacity_ = 0, index_size_ = 0;
};

/// A place in the mailbox that a receive on a fresh reference may start at.
struct ReceiveMarker {
  RefKey ref;                 // all zero: reserved, not bound yet
  Fragment** link = nullptr;  // nullptr: slot free
  std::uint32_t id = 0;
};

/// A process asked for on another node: what is done when the answer comes. Fragments hold terms of
/// their own and belong to the entry.
struct SpawnRequested {
  Fragment* tag = nullptr;          // of the answer; nullptr: spawn_reply
  Fragment* monitor_tag = nullptr;  // in place of 'DOWN'
  AliasMode alias = AliasMode::kNone;
  bool reply_success = true, reply_error = true;

  void drop_tag() const {
    if (tag) Fragment::destroy(tag);
  }
  void drop_monitor_tag() const {
    if (monitor_tag) Fragment::destroy(monitor_tag);
  }
};

/// Whom a process suspends: how many times, and whether it has been told that the first has had its
/// effect.
struct Suspending {
  std::uint32_t times = 1;
  bool is_active = false;
};

/// Why a process is with a dirty scheduler, or will go there, other than for native code and
/// built-in functions: to decode a deferred message (message/deferred_decoding.hpp), or to answer a
/// request (lifecycle/answer.hpp).
enum class OtherDirtyWork : std::uint8_t { kNone, kDecode, kAnswer };

struct Extra {
  Dictionary dictionary;
  Links links;
  FlatTable<RefKey, MonitorOut> monitors;
  Watchers monitored_by;
  Aliases aliases;
  FlatTable<RefKey, SpawnRequested> spawn_requests;

  static constexpr unsigned kMarkers = usual_or_small<unsigned>(4, 1);
  ReceiveMarker markers[kMarkers];
  unsigned marker_count = 0;
  std::uint32_t next_marker = 0;

  // A question of this process to another one (request.hpp).
  Word request_id = 0;        // 0: none
  Fragment* reply = nullptr;  // its answer
  Word requests_made = 0;
  // Questions to this process.
  std::vector<Fragment*> deferred;
  Fragment* until_collected = nullptr;  // that wait while it is not collected (lifecycle/gc.hpp): the last
  FlatTable<Term, Suspending> suspending;
  Fragment* deferred_decoding =
      nullptr;  // fragments that wait until the first of them is decoded (deferred_decoding.hpp)
  Fragment* behind_end = nullptr;     // the same, behind the signal that ends it (handle.cpp)
  Fragment* undecodable = nullptr;    // messages that are no terms, not looked at yet (deferred_decoding.hpp)
  std::uint32_t pinned_messages = 0;  // messages in the mailbox whose root lies in the heap

  struct DirtyJob* dirty_job = nullptr;  // a BIF that runs on a dirty scheduler (nif/dirty.hpp)

  // While native code of it runs on a dirty scheduler (dirty_state.hpp).
  bool only_native_left = false;    // it has ended but for that
  bool holds_reclaim = false;       // so nothing is given back that it may refer to
  Fragment* joins_later = nullptr;  // fragments that are to join its heap

  struct TraceState* trace_state = nullptr;  // what tracing knows of this process (trace_state.hpp)

  // The function that others see it in while it waits for a port or connection that is busy.
  const struct Export* suspended_in = nullptr;

  // While functions run that enif_schedule_nif has made: what was called, for their exceptions.
  const struct Export* called_native = nullptr;
  Term called_with = Term::nil();  // list of arguments

  // Odds and ends of process_flag.
  Term error_handler = Term::nil();
  Word min_bin_vheap_words = 0;  // binaries that alone make no collection due; 0: the VM's default
  std::uint16_t bound_to = 0;    // the number of the one scheduler it runs on (sched/bound.hpp)
  bool off_heap_messages = false;
  bool async_dist = false;            // does not wait for connections that are busy
  bool waits_for_connection = false;  // one is: counted in suspend_count
  bool in_distribution = false;  // has to do with nodes and connections: told at its end (dist/channels.cpp)
  bool system_process = false;   // the VM ends with it
  bool holds_flags = false;      // of the system: given back at its end (lifecycle/exit.hpp)
  OtherDirtyWork other_dirty_work = OtherDirtyWork::kNone;
  bool dirty_call_raised = false;   // its exception waits for it (see nif/dirty.hpp)
  bool is_not_collected = false;    // see forbid_collections in lifecycle/gc.hpp
  bool collected_on_dirty = false;  // the instruction that asked for it begins again (lifecycle/gc.hpp)

  ~Extra();
};

/// Extra::until_collected joins Extra::deferred.
[[gnu::cold]] void defer_until_collected(Extra& extra);

/// process_flag(sensitive, true): asked by the process itself, and by who is about to tell of it.
inline bool is_sensitive(const Process& p) { return p.sensitive.load(std::memory_order_relaxed); }

/// p's extra part, made if need be.
inline Extra& extra_of(Process& p) {
  if (!p.extra) [[unlikely]]
    p.extra = new Extra;
  return *p.extra;
}

}  // namespace vmrun
