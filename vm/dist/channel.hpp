// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <vector>

#include "vm/dist/link_signals.hpp"
#include "vm/dist/remote_relations.hpp"
#include "vm/dist/wire/output_queue.hpp"
#include "vm/process/process.hpp"
#include "vm/term/fun.hpp"

/// The channel to one other node: whether there is a connection, what waits to go out over it, and
/// the links, monitors and requests that exist over it. It is made when it is first needed
/// (channels.hpp finds channels). It is given back when it is idle, when no entry of a node and no
/// connection refers to it, and when no thread can be reading it any more: a thread that has found
/// it without such a reference is under an epoch.
///
///            new_connection, or a send             create_dist_channel
///   kIdle ----------------------------> kPending ----------------------> kConnected
///     ^  <------------------------------------------------------------      |
///     |           abort_pending_connection                                  | its controller ends
///     +------------------------------- kClosing <---------------------------+
///                 all processes are told      (an aborted one closes too)
///
/// Each connection attempt has a number, the connection's. A sender asks for the route, encodes its
/// message for it without a lock, and pushes it to the route's channel. If the channel has another
/// connection by then, the message is lost, as it would have been a moment later. Any thread,
/// unless stated otherwise.
namespace vmrun::dist {

class Channel;
class Connection;

/// What a sender knows of a connection when it encodes.
struct Route {
  Channel* channel = nullptr;
  Word connection = 0;  // its number; 0: no connection
  Flags flags = 0;      // of the connection: how to encode
  bool pending = false;

  explicit operator bool() const { return connection != 0; }
  bool can(Flags flag) const { return flags & flag; }
  /// While the flags of the other node are not known, it is assumed to support what all nodes do
  /// since OTP 24. Otherwise the first call of a server there could not be answered.
  static constexpr Flags kAssumed = flag::kUnlinkId | flag::kSpawn | flag::kAlias | flag::kV4Nc;
};

/// The functions that a process is shown in while it waits for a busy connection, as in OTP: the
/// first after a message or an exit signal, the second after another signal.
const Export* waits_in_send();
const Export* waits_in_other_signal();

enum class Pushed : std::uint8_t {
  kSent,
  kBusy,     // sent, and the queue is over the limit: the sender should wait if it can (make_wait)
  kLost,     // the connection is gone; nothing was changed
  kTooLarge  // from transmit: the message cannot be encoded; nothing was changed
};

class Channel {
 public:
  enum class State : Word { kIdle, kPending, kConnected, kClosing };

  Channel(Term name, Word number) : name(name), number(number) {}
  Channel(const Channel&) = delete;

  const Term name;    // of the other node
  const Word number;  // a number of its own, from 1 on

  // ---- References -------------------------------------------------------------------------------
  void retain() { references_.fetch_add(1, std::memory_order_relaxed); }
  void release() { references_.fetch_sub(1, std::memory_order_release); }
  Word references() const { return references_.load(std::memory_order_acquire); }
  bool is_referred_to() const { return references() != 0; }
  bool is_unused() const { return !is_referred_to() && state() == State::kIdle; }
  /// Takes the channel out of the table by unlink(): from then on no connection begins over it.
  /// Returns false if it is in use after all.
  template <class Unlink>
  bool leave_table(Unlink unlink) {
    std::lock_guard lock(mutex_);
    if (!is_unused()) return false;
    has_left_ = true;
    unlink();
    return true;
  }

  State state() const { return state_of(word_.load(std::memory_order_acquire)); }
  /// Returns the existing connection, pending or not.
  Route route();
  /// Returns it too; if there is none, asks net_kernel for one.
  Route connect();
  /// Whether more bytes wait than the limit allows.
  bool is_busy() const { return busy_.load(std::memory_order_relaxed); }
  /// Whether so many answers wait for the other node that nothing more is read from it: it sends
  /// requests and does not read the answers. Nodes that make their senders wait do not reach this
  /// limit: for them only answers to requests that were on the way can wait, and these are fewer.
  bool owes_much() const { return owes_much_.load(std::memory_order_relaxed); }
  /// What this thread pushes with transmit while it holds one of these is an answer.
  class Answering;

  // ---- Senders ----------------------------------------------------------------------------------
  /// Queues the message behind those that wait. change(Relations&) is called with it, under the
  /// lock; if it returns false, the message is not needed.
  template <class Change>
  Pushed push(const Route& route, std::unique_ptr<OutgoingMessage> m, Change change) {
    std::unique_lock lock(mutex_);
    if (!is_current(route)) return Pushed::kLost;
    if (!change(*relations_)) return Pushed::kSent;
    return push_locked(lock, std::move(m));
  }
  Pushed push(const Route& route, std::unique_ptr<OutgoingMessage> m) {
    return push(route, std::move(m), [](Relations&) { return true; });
  }
  /// Calls change(Relations&) alone. Returns false when the connection is gone.
  template <class Change>
  bool change(const Route& route, Change change) {
    std::lock_guard lock(mutex_);
    if (!is_current(route)) return false;
    change(*relations_);
    return true;
  }
  /// Calls change(LinkSignals&) under the lock, whether there is a connection or not.
  template <class Change>
  void change_link_signals(Change change) {
    std::lock_guard lock(mutex_);
    change(link_signals_);
  }
  /// Only for what push and change call.
  LinkSignals& link_signals() { return link_signals_; }
  /// The process has pushed. It does not go on before the queue has become shorter, or before what
  /// it has pushed has gone out: a process that sends little does not wait for the large messages
  /// of others. suspended_in: the function that it is shown in meanwhile. Called in the thread that
  /// runs p.
  void make_wait(Process& p, const Route& route, const Export* suspended_in);

  // ---- The connection ---------------------------------------------------------------------------
  /// Returns the pending or existing connection, or begins a pending one. Returns no connection if
  /// the last one is not quite gone yet.
  Route begin_connecting();
  /// Gives the pending connection its controller and flags. Returns false if it is not pending.
  [[nodiscard]] bool connected(std::shared_ptr<Connection> by, Flags flags);
  /// Returns the connection if it is up.
  std::shared_ptr<Connection> connection();
  /// Ends the connection of that number. Returns the processes that are still to be told of it;
  /// nullptr if there is no such connection.
  std::unique_ptr<class ConnectionDown> lose(Word connection, Term reason);
  /// Does that for a connection that is only pending.
  std::unique_ptr<class ConnectionDown> abort(Word connection);

  // ---- The thread that sends what waits ---------------------------------------------------------
  /// Moves what waits to the queue of the thread that holds the output. Returns false if nothing
  /// waits; if that queue is empty too, the next sender that pushes calls Connection::wake.
  bool take(const Connection& by, OutputQueue& to);
  /// Reports what is left of what was taken. Processes that waited for the rest to become small go
  /// on.
  void report_left(const Connection& by, const OutputQueue& left);
  /// Returns the bytes that wait, here or in the holder's queue.
  Word queued_bytes();

 private:
  friend class ConnectionDown;
  struct Waiter {
    Term process;
    Word pushed;  // the serial number of the last message when it began to wait
  };
  static State state_of(Word word) { return static_cast<State>(word & 3); }
  static Word number_of(Word word) { return word >> 2; }
  /// Called under the lock.
  void set(State state, Word connection) {
    word_.store(connection << 2 | static_cast<Word>(state), std::memory_order_release);
  }
  bool is_current(const Route& route) const {
    const Word word = word_.load(std::memory_order_relaxed);
    return number_of(word) == route.connection &&
           (state_of(word) == State::kPending || state_of(word) == State::kConnected);
  }
  Word begin_locked();
  static void let_go(const std::vector<Waiter>& waiters);
  Pushed push_locked(std::unique_lock<std::mutex>& lock, std::unique_ptr<OutgoingMessage> m);
  void settle_waiting(Flags flags);
  std::unique_ptr<ConnectionDown> lose_locked(std::unique_lock<std::mutex>& lock, Term reason);
  void closed();  // called by a ConnectionDown when all are told

  std::atomic<Word> references_{0};
  std::atomic<Word> word_{0};    // state and the connection's number
  std::atomic<Flags> flags_{0};  // written before word_
  std::atomic<bool> busy_{false}, owes_much_{false};

  std::mutex mutex_;  // guards the members below, and all changes
  std::shared_ptr<Connection> connection_;
  std::unique_ptr<Relations> relations_;
  LinkSignals link_signals_;
  bool has_left_ = false;  // whether it has left the table
  std::vector<std::unique_ptr<OutgoingMessage>> waiting_;
  Word waiting_bytes_ = 0, taken_bytes_ = 0;
  Word waiting_answers_ = 0, taken_answers_ = 0;  // OutgoingMessage::memory of them
  bool awake_ = false;                            // whether the holder reads waiting_ again before it sleeps
  Word pushed_ = 0;                               // number of messages ever pushed: OutgoingMessage::serial
  std::vector<Waiter> waiters_;
};

class Channel::Answering {
 public:
  explicit Answering(Channel& channel) { to_ = &channel; }
  ~Answering() { to_ = nullptr; }
  Answering(const Answering&) = delete;
  static bool is(const Channel& channel) { return to_ == &channel; }

 private:
  static constinit thread_local const Channel* to_;
};

/// A connection that is gone. Processes with links, monitors or requests over it are still to be
/// told.
class ConnectionDown {
 public:
  ConnectionDown(Channel& channel, Term reason) : channel(channel), reason(reason) { channel.retain(); }
  ~ConnectionDown();
  ConnectionDown(const ConnectionDown&) = delete;
  /// Tells at most `most` of them. Returns false if there are more. Called under an epoch.
  bool tell(int most);

  Channel& channel;
  const Term reason;
  bool was_up = false, was_visible = false;
  Word connection = 0;
  Term controller;
  std::unique_ptr<Relations> relations;

 private:
  bool done_ = false;
};

/// Bytes that wait for one connection before senders wait: +zdbbl.
extern std::atomic<Word> busy_limit;

}  // namespace vmrun::dist
