// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <utility>
#include <vector>

#include "vm/base/small_limits.hpp"
#include "vm/process/aliases.hpp"
#include "vm/process/own_timers.hpp"
#include "vm/process/process.hpp"
#include "vm/process/relations.hpp"

/// The less frequent parts of a process: dictionary, links, monitors, aliases, receive markers,
/// requests. They are allocated on first use and used by the process's own thread only.
namespace vmrun {

/// The dictionary of put/get/erase. Entries lie densely, so that a collection visits one range. An
/// index is built once there are more than a few.
class Dictionary {
 public:
  ~Dictionary();
  std::size_t size() const { return size_; }
  Term key(std::size_t i) const { return pairs_[2 * i]; }
  Term value(std::size_t i) const { return pairs_[2 * i + 1]; }
  Term* terms() { return pairs_; }

  Term get(Term key) const;        // undefined if absent
  Term put(Term key, Term value);  // old value or undefined
  Term erase(Term key);            // old value or undefined
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

/// A place in the mailbox at which a receive for a fresh reference may start.
struct ReceiveMarker {
  RefKey ref;                 // all zero: reserved, not bound yet
  Fragment** link = nullptr;  // nullptr: slot free
  // Leads to the first priority message that has come since; nullptr: none has. The receive tests
  // from here to the end of the priority messages, then from `link` on.
  Fragment** since = nullptr;
  std::uint32_t id = 0;
};

/// A request to spawn a process on another node, and what to do when the answer comes. The
/// fragments hold terms of their own and belong to the entry.
struct SpawnRequested {
  Fragment* tag = nullptr;          // of the answer; nullptr: spawn_reply
  Fragment* monitor_tag = nullptr;  // in place of 'DOWN'
  AliasMode alias = AliasMode::kNone;
  bool reply_success = true, reply_error = true;
  bool priority_link = false, priority_monitor = false;

  void drop_tag() const {
    if (tag) Fragment::destroy(tag);
  }
  void drop_monitor_tag() const {
    if (monitor_tag) Fragment::destroy(monitor_tag);
  }
};

/// A process that this one suspends: how many times, and whether it has been reported that the
/// first one took effect.
struct Suspending {
  std::uint32_t times = 1;
  bool is_active = false;
};

/// Why a process is with a dirty scheduler, or will go there, other than for native code and
/// built-in functions: to decode a deferred message (message/deferred_decoding.hpp), or to answer a
/// request (lifecycle/answer.hpp).
enum class OtherDirtyWork : std::uint8_t { kNone, kDecode, kAnswer };

/// What of a process brings priority messages (message/priority.hpp), and where those in its
/// mailbox end. Made with the first mark.
struct PriorityReception {
  FlatTable<RefKey, NoValue> aliases, monitors;
  FlatTable<KeptIdentifier, NoValue> links;
  // The link behind the last priority message of the inner queue. It is the queue's first link when
  // there is none.
  Fragment** end = nullptr;
  // A priority message went in front of a message that was just being tested: when the receive has
  // come to the end of the queue, it begins anew.
  bool begins_anew = false;
  // The receive under way has tested all priority messages.
  bool all_tested = false;
  // A link that leads to a priority message, or is `end`: while the save position is there, nobody
  // has to look for it once more.
  Fragment** among = nullptr;

  // While a receive that has tested ordinary messages, or need not test them, tests priority
  // messages that came later, the queue is cut at `end`: `rest` is what follows there, and the
  // receive goes on at `resume` in it. Whoever walks the queue joins it first. A receive that is
  // under way then tests all of `rest`.
  Fragment* rest = nullptr;
  Fragment** resume = nullptr;
  void cut(Fragment** goes_on_at) {
    rest = std::exchange(*end, nullptr);
    resume = goes_on_at;
  }
  void join() {
    if (rest) *end = std::exchange(rest, nullptr);
  }

  ~PriorityReception() {
    links.for_each([](const KeptIdentifier& other, NoValue) { drop_identifier(other.term); });
  }
  bool empty() const { return aliases.empty() && monitors.empty() && links.empty(); }
};

struct Extra {
  Dictionary dictionary;
  Links links;
  FlatTable<RefKey, MonitorOut> monitors;
  Watchers monitored_by;
  Aliases aliases;
  std::unique_ptr<PriorityReception> priority;
  FlatTable<RefKey, SpawnRequested> spawn_requests;
  std::unique_ptr<OwnTimers> timers;  // made with the first timer that it starts for itself

  static constexpr unsigned kMarkers = usual_or_small<unsigned>(4, 1);
  ReceiveMarker markers[kMarkers];
  unsigned marker_count = 0;
  std::uint32_t next_marker = 0;

  // A request of this process to another one (request.hpp).
  Word request_id = 0;        // 0: none
  Fragment* reply = nullptr;  // its answer
  Word requests_made = 0;
  // Requests to this process.
  std::vector<Fragment*> deferred;
  Fragment* until_collected = nullptr;  // the latest that waits for a collection (lifecycle/gc.hpp)
  FlatTable<Term, Suspending> suspending;
  Fragment* deferred_decoding =
      nullptr;  // fragments that wait until the first of them is decoded (deferred_decoding.hpp)
  Fragment* behind_end = nullptr;     // fragments behind the signal that ends it (handle.cpp)
  Fragment* undecodable = nullptr;    // messages that are not terms, not reported yet (deferred_decoding.hpp)
  std::uint32_t pinned_messages = 0;  // messages in the mailbox whose root lies in the heap

  struct DirtyJob* dirty_job = nullptr;  // a BIF that runs on a dirty scheduler (nif/dirty.hpp)

  // While it waits for a dirty scheduler, or its native code runs there (dirty_state.hpp).
  struct Core* sent_by = nullptr;   // the scheduler that has sent it
  Word dirty_wait_since = 0;        // for the probes of run queues (run_queue_wait.hpp); 0: not observed
  bool only_native_left = false;    // it has ended except for that code
  bool holds_reclaim = false;       // so that nothing it may refer to is freed
  Fragment* joins_later = nullptr;  // fragments that will join its heap

  struct TraceState* trace_state = nullptr;  // see trace_state.hpp

  // The function that is reported while it waits for a port or connection that is busy.
  const struct Export* suspended_in = nullptr;

  // While functions made by enif_schedule_nif run: the function that was called, for their
  // exceptions.
  const struct Export* called_native = nullptr;
  Term called_with = Term::nil();  // list of arguments

  // Flags, most of them set by process_flag.
  Term error_handler = Term::nil();
  Word min_bin_vheap_words = 0;  // binaries below this size do not make a collection due; 0: the VM's default
  std::uint16_t bound_to = 0;    // the number of the one scheduler it runs on (sched/bound.hpp)
  bool off_heap_messages = false;
  bool async_dist = false;            // does not wait for busy connections
  bool waits_for_connection = false;  // it waits for one, which is counted in suspend_count
  bool in_distribution = false;       // nodes and connections are told of its end (dist/channels.cpp)
  bool system_process = false;        // the VM ends when it does
  bool holds_flags = false;           // flags of the whole system, released at its end (lifecycle/exit.hpp)
  OtherDirtyWork other_dirty_work = OtherDirtyWork::kNone;
  bool dirty_call_raised = false;   // its exception is pending (see nif/dirty.hpp)
  bool is_not_collected = false;    // see forbid_collections in lifecycle/gc.hpp
  bool collected_on_dirty = false;  // the instruction that needed it is executed again (lifecycle/gc.hpp)

  ~Extra();
};

/// Appends the requests in Extra::until_collected to Extra::deferred.
[[gnu::cold]] void defer_until_collected(Extra& extra);

/// Returns the first message of the inner queue, for those who walk it: it is one list again (see
/// PriorityReception). Called by the thread that runs p, or while all others stand still.
inline Fragment*& inner_queue(Process& p) {
  if (p.extra && p.extra->priority) p.extra->priority->join();
  return p.mailbox.first;
}
inline const Fragment* inner_queue(const Process& p) { return inner_queue(const_cast<Process&>(p)); }

/// process_flag(sensitive, true). The process itself tests it, and so does code that is about to
/// report something about the process.
inline bool is_sensitive(const Process& p) { return p.sensitive.load(std::memory_order_relaxed); }

/// Returns p's extra part, which is made if need be.
inline Extra& extra_of(Process& p) {
  if (!p.extra) [[unlikely]]
    p.extra = new Extra;
  return *p.extra;
}

}  // namespace vmrun
