// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "vm/process/process.hpp"
#include "vm/process/relations.hpp"

/// The receivers of messages and signals, and what can be done to them: a table of verbs, with one
/// implementation for each kind. A process, port or resource of this node, an alias, a destination
/// that does not exist, and everything on other nodes are each a Receiver; no other code branches
/// on the kind. Only destination.hpp decides what a program's name means, and only receiver_of what
/// an identifier is.
///
/// Called by schedulers, or under an EpochGuard. Signals of one sender to one receiver arrive in
/// the order of the calls. The functions never collect; terms are copied where they are kept. A
/// channel to another node is one more implementation: docs/internals/messages.md,
/// "To another node".
namespace vmrun {

struct Destination;

struct SendOptions {
  bool nosuspend : 1 = false, noconnect : 1 = false;
  bool priority : 1 = false;  // to a priority alias: a priority message
};
enum class SendResult : std::uint8_t {
  kDone,          // sent or lost; the sender cannot tell which
  kWaits,         // suspend_and_retry or run_on_dirty was called: repeat the call when the sender is resumed
  kBusy,          // it would have had to wait (nosuspend)
  kNoConnection,  // it would have had to connect (noconnect)
  kBadArgument,   // there is no such receiver: badarg
  kTooLarge,      // for another node: system_limit
};

/// The result of a signal that expects an answer if the receiver does not exist.
enum class Reached : std::uint8_t {
  kYes,      // the signal, or its answer, is on its way
  kNobody,   // nothing was sent; the caller answers itself (noproc)
  kRefused,  // such a receiver does not support this: badarg
};

struct ExitSignal {
  Term from, reason;
  bool by_link = false;        // from a link: dropped unless linked
  bool priority = false;       // to a priority alias: becomes a priority message if it becomes one
  bool fires_probe = true;     // fires process-exit_signal; not for the noproc of a failed link
  Process* carrier = nullptr;  // the process that ends; its token and tag are sent along
  Term token = Term::nil();    // of a process of another node, instead of a carrier's
};

struct DownSignal {
  RefKey key;
  Term object;  // the process or port that is gone; the non-value for a name that was not registered
  Term name;    // the name that was monitored; nil if none
  Term reason;
  bool of_port = false;
};

class Receiver {
 public:
  /// `To ! Message`. Charges reductions for the copy.
  virtual SendResult send(Process& from, const Destination& to, Term message, SendOptions options);

  /// setting is the link's number in the table of `from` (Links).
  virtual Reached link(Term to, Term from, std::uint32_t setting);
  virtual void unlink(Term to, Term from, LinkSettings known);
  /// exit/2, or the end of a process or port that `to` is linked to. Returns false when exit/2's
  /// reason is too large for another node.
  virtual bool exit(Term to, const ExitSignal& signal);

  /// watcher gets the signal `down`. name is the atom that was monitored, or nil.
  virtual Reached monitor(Term to, Term watcher, RefKey key, Term name);
  virtual void demonitor(Term to, Term watcher, RefKey key);
  virtual void down(Term to, const DownSignal& signal);

  virtual Reached group_leader(Term to, Term leader);
  /// Sends a request (request.hpp). With kYes the fragment is taken over. priority is that of the
  /// asking process.
  virtual Reached ask(Term to, Fragment* question, std::uint8_t priority);

  virtual bool is_there(Term who);
  /// Returns a watcher as process_info(_, monitored_by) shows it; the non-value when it is not
  /// shown.
  virtual Term as_watcher(Term who, RefKey key, Heap& heap);

 protected:
  ~Receiver() = default;
};

/// The kinds. connect_machine() fills in those of higher layers.
struct Receivers {
  Receiver* process;
  Receiver* port;
  Receiver* resource;  // of native code; found by the references of its monitors
  Receiver* alias;     // of a process of this node; takes messages only
  Receiver* clock;     // clock_service, whose monitors report a new time offset
  Receiver* nobody;    // uses the functions of Receiver itself
  Receiver* remote;    // processes, ports, aliases and names of other nodes
};
extern constinit Receivers receivers;

/// Returns the receiver for an identifier: a pid, port, kResourceWatcher; {Name, Node} of another
/// node; clock_service. Other atoms give `nobody`, because names are resolved by find_destination.
inline Receiver& receiver_of(Term identifier) {
  if (identifier.is_local_pid()) return *receivers.process;
  if (identifier.is_local_port()) return *receivers.port;
  if (identifier == kResourceWatcher) return *receivers.resource;
  if (!identifier.is_immed()) return *receivers.remote;
  return identifier == atoms::clock_service ? *receivers.clock : *receivers.nobody;
}

}  // namespace vmrun
