// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <mutex>
#include <vector>

#include "vm/trace/event.hpp"

/// Trace sessions (module `trace` of OTP 27). All tracing belongs to a session: flags and tracers
/// of processes and ports, patterns of functions and messages, counts and times. Sessions know
/// nothing of each other. The default session is that of erlang:trace/3 and its relatives; it
/// always exists, and each of its requests names a tracer. Other sessions are made by programs and
/// have one tracer each. Such a session ends when a program says so, or when the last reference
/// term to it is gone. From then on it is found no more and traces nothing; what it has left in
/// functions, processes and ports is removed later. Any thread.
///
/// A process or port has a list of the sessions that trace it. What the sessions together want of
/// it is one word of flags (Process::observed, PortTracing::flags), so the number of sessions
/// matters only where an event is reported.
namespace vmrun {

struct TraceSession;
using SessionRef = std::shared_ptr<TraceSession>;

/// What processes, or ports, that begin from now on are traced for by a session. Any thread.
class NewTracees {
 public:
  /// The number of sessions that have such tracing on.
  using Count = std::atomic<unsigned>;
  explicit NewTracees(Count& count) : count_(count) {}
  ~NewTracees() { set(false, ~0u, nullptr); }
  NewTracees(const NewTracees&) = delete;
  void set(bool on, std::uint32_t flags, Tracer* tracer);
  /// Returns their tracer and flags.
  KeptTracer get(std::uint32_t* flags);
  bool any() const { return any_.load(std::memory_order_relaxed); }

 private:
  void set_any(bool any);

  Count& count_;
  std::mutex mutex_;
  std::uint32_t flags_ = 0;
  Tracer* tracer_ = nullptr;
  std::atomic<bool> any_{false};
};
extern NewTracees::Count sessions_of_new_processes, sessions_of_new_ports;

struct Tracing;

struct TraceSession {
  TraceSession(Word number, Term name, Tracer* tracer);
  ~TraceSession();
  TraceSession(const TraceSession&) = delete;

  const Word number;     // 0: the default session; later sessions have larger numbers
  const Term name;       // an atom
  Tracer* const tracer;  // of all that it traces; nullptr: each request names one
  std::atomic<bool> is_alive{true};
  NewTracees new_processes{sessions_of_new_processes}, new_ports{sessions_of_new_ports};

  std::mutex mutex;
  // Under the mutex: the patterns of messages (message_pattern.hpp), and what is traced, except by
  // the default session.
  std::shared_ptr<const struct KeptMessagePattern> sending, receiving;
  Tracing* tracings = nullptr;

  bool is_default() const { return number == 0; }
  /// How a program names it: {Name, Id}, which does not keep it.
  Term weak_reference(Heap& out) const;
};

const SessionRef& default_session();
/// Makes a session; takes over the reference to the tracer, which may be nullptr.
SessionRef create_session(Term name, Tracer* tracer);
/// Returns the session of this number; nullptr when it has ended.
SessionRef find_session(Word number);
/// Returns the session that a program calls {Name, Id}; nullptr when there is none, or not any
/// more.
SessionRef find_session(Term name, Term id);
/// Returns all sessions, from the default session to the newest one. In Tracings the newest stands
/// in front, so adding parts in this order takes no search.
std::vector<SessionRef> all_sessions();
/// Ends a session. Returns false when that has been done before. What it has left behind is still
/// to be removed: forget_call_patterns (call_pattern.hpp), forget_message_patterns
/// (message_pattern.hpp), and its tracees.
bool end_session(TraceSession& session);
/// Returns the processes and ports that the session traces.
std::vector<Term> tracees_of(TraceSession& session);

// ---- The sessions of one process or port --------------------------------------------------------

/// What one session traces of a process or port.
struct Tracing {
  Tracing(const SessionRef& session, Term tracee);
  ~Tracing();
  Tracing(const Tracing&) = delete;

  const SessionRef session;
  const Term tracee;
  std::uint32_t flags = 0;
  Tracer* tracer = nullptr;  // set while any of kTraceAll is set, except for silence alone
  Tracing* next = nullptr;

 private:
  friend std::vector<Term> tracees_of(TraceSession& session);
  Tracing *next_of_session_ = nullptr, **link_of_session_ = nullptr;
};

/// The list, newest session first. Used only by the thread that has the process or port.
class Tracings {
 public:
  Tracings() = default;
  ~Tracings();
  Tracings(const Tracings&) = delete;

  bool empty() const { return !first_; }
  /// Returns the session's part of the list; nullptr when that session does not trace this one.
  /// Searches from where the last search ended, so questions about the newest session first, then
  /// about older ones take one walk over the list.
  Tracing* find(Word session) const;
  /// Returns what all sessions together trace.
  std::uint32_t flags() const;
  /// Changes what a session traces. Switching on needs a tracer. Returns false when this session
  /// has another tracer for it already.
  bool set(const SessionRef& session, Term tracee, bool on, std::uint32_t flags, Tracer* tracer);
  /// Removes a session's part; does nothing when there is none.
  void drop(Word session);
  /// Removes the parts of sessions that have ended.
  void drop_ended();
  /// Removes a session's part when its tracer does not exist any more. Returns that part otherwise,
  /// and nullptr when there is none.
  Tracing* find_alive(Word session);

  /// Calls tell(Tracing&) for each session that traces any of the flags. The callback may change
  /// the list.
  template <class Tell>
  void each(std::uint32_t wanted, Tell tell) {
    for (Tracing* t = first_; t;) {
      const Word number = t->session->number, changes = changes_;
      if (t->flags & wanted) tell(*t);
      t = changes == changes_ ? t->next : first_older(number);
    }
  }

 private:
  Tracing* first_older(Word session) const;
  Tracing& make(const SessionRef& session, Term tracee);
  void remove(Tracing** link);

  Tracing* first_ = nullptr;
  mutable Tracing* searched_ = nullptr;  // a part of the list that the last search went by, or nullptr
  Word changes_ = 0;                     // how many parts have been removed
};

}  // namespace vmrun
