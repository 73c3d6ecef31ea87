#pragma once

#include <cstdint>

#include "vm/process/process.hpp"
#include "vm/process/relations.hpp"

/// Who receives messages and signals, and what can be done to them: a table of verbs, one
/// implementation a kind. A process, port or resource of this node, an alias, nobody, and
/// everything of other nodes are each a Receiver; nobody else decides by kind. What a program names
/// (destination.hpp) and what an identifier is (receiver_of) are found out here alone.
///
/// Called by schedulers, or under an EpochGuard. Signals of one sender to one receiver arrive in
/// the order of the calls. Nothing here collects; terms are copied where they are kept. A channel
/// to another node is one more implementation: docs/internals/messages.md, "To another node".
namespace vmrun {

struct Destination;

struct SendOptions {
  bool nosuspend = false, noconnect = false;
};
enum class SendResult : std::uint8_t {
  kDone,   // sent, or lost: which of them a sender is not told
  kWaits,  // suspend_and_retry or run_on_dirty has been said: the same again when the sender is resumed
  kBusy,   // it would have had to wait (nosuspend)
  kNoConnection,  // it would have had to connect (noconnect)
  kBadArgument,   // there is no such receiver, as badarg says
  kTooLarge,      // for another node: system_limit
};

/// What became of a signal that expects an answer if nobody is there.
enum class Reached : std::uint8_t {
  kYes,      // it is on its way, or its answer is
  kNobody,   // nothing was sent, the caller answers itself (noproc)
  kRefused,  // this cannot be asked of such a receiver: badarg
};

struct ExitSignal {
  Term from, reason;
  bool by_link = false;        // of a link: dropped unless linked
  bool announced = true;       // fires process-exit_signal; not for the noproc of a link to what is dead
  Process* carrier = nullptr;  // the process that ends, whose token and tag go along
  Term token = Term::nil();    // of a process of another node, in place of a carrier's
};

struct DownSignal {
  RefKey key;
  Term object;  // who is gone: process, port; the non-value where a name had no bearer
  Term name;    // by which the monitor was set; nil for none
  Term reason;
  bool of_port = false;
};

class Receiver {
 public:
  /// `To ! Message`. Charges reductions for the copy.
  virtual SendResult send(Process& from, const Destination& to, Term message, SendOptions options);

  /// setting: its number in the table of `from` (Links).
  virtual Reached link(Term to, Term from, std::uint32_t setting);
  virtual void unlink(Term to, Term from, LinkSettings known);
  /// exit/2, or the end of what `to` is linked to. False: exit/2's reason is too large for another
  /// node.
  virtual bool exit(Term to, const ExitSignal& signal);

  /// watcher: who is told by `down`. name: the atom by which it was asked for, or nil.
  virtual Reached monitor(Term to, Term watcher, RefKey key, Term name);
  virtual void demonitor(Term to, Term watcher, RefKey key);
  virtual void down(Term to, const DownSignal& signal);

  virtual Reached group_leader(Term to, Term leader);
  /// A question of request.hpp, which is taken over with kYes; priority: of who asks.
  virtual Reached ask(Term to, Fragment* question, std::uint8_t priority);

  virtual bool is_there(Term who);
  /// How process_info(_, monitored_by) shows a watcher; the non-value: not at all.
  virtual Term as_watcher(Term who, RefKey key, Heap& heap);

 protected:
  ~Receiver() = default;
};

/// The kinds. vm/port and vm/nif fill in theirs before main begins.
struct Receivers {
  Receiver* process;
  Receiver* port;
  Receiver* resource;  // of native code; known by the references of its monitors
  Receiver* alias;     // of a process of this node; takes messages only
  Receiver* clock;     // clock_service, whose monitors are told of a new time offset
  Receiver* nobody;    // what the functions of Receiver itself say
  Receiver* remote;    // processes, ports, aliases and names of other nodes
};
extern constinit Receivers receivers;

/// Whose the identifier is: a pid, port, kResourceWatcher; {Name, Node} of another node;
/// clock_service. Other atoms are nobody's, for names are given to find_destination.
inline Receiver& receiver_of(Term identifier) {
  if (identifier.is_local_pid()) return *receivers.process;
  if (identifier.is_local_port()) return *receivers.port;
  if (identifier == kResourceWatcher) return *receivers.resource;
  if (!identifier.is_immed()) return *receivers.remote;
  return identifier == atoms::clock_service ? *receivers.clock : *receivers.nobody;
}

}  // namespace vmrun
