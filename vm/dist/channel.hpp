#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <vector>

#include "vm/dist/relations.hpp"
#include "vm/dist/wire/output.hpp"
#include "vm/process/process.hpp"
#include "vm/term/fun.hpp"

/// The way to one other node: whether there is a connection, what waits to go out over it, who has
/// to do with whom over it. Made when somebody has to do with that node (channels.hpp finds them);
/// given back when it is idle, no entry of a node and no connection refers to it, and nobody can be
/// looking at it any more: whoever found it without such a reference is under an epoch.
///
///            new_connection, or a send             create_dist_channel
///   kIdle ----------------------------> kPending ----------------------> kConnected
///     ^  <------------------------------------------------------------      |
///     |           abort_pending_connection                                  | its controller ends
///     +------------------------------- kClosing <---------------------------+
///                 all are told                (an aborted one closes too)
///
/// Each attempt has a number, the connection's. A sender asks for the route, encodes its message
/// for it without a lock, and pushes to the channel that the route says: if the connection is
/// another one by then, the message is lost, as it would have been a moment later. Any thread,
/// unless told otherwise.
namespace vmrun::dist {

class Channel;
class Connection;

/// What a sender goes by.
struct Route {
  Channel* channel = nullptr;
  Word connection = 0;  // its number; 0: there is none
  Flags flags = 0;      // of the connection: how to encode
  bool pending = false;

  explicit operator bool() const { return connection != 0; }
  bool can(Flags flag) const { return flags & flag; }
  /// While nothing is known of the other node it is taken to know what all do since OTP 24:
  /// without, the first call of a server there would have no way to answer.
  static constexpr Flags kAssumed = flag::kUnlinkId | flag::kSpawn | flag::kAlias | flag::kV4Nc;
};

/// The functions that a process is seen in while it waits for a busy connection; OTP has them for
/// that. After a message or an exit signal; after another signal.
const Export* waits_in_send();
const Export* waits_in_other_signal();

enum class Pushed : std::uint8_t {
  kSent,
  kBusy,     // sent, and there is much in the queue: whoever can should wait (make_wait)
  kLost,     // the connection is gone; nothing was changed
  kTooLarge  // by transmit: there is no message for it; nothing was changed
};

class Channel {
 public:
  enum class State : Word { kIdle, kPending, kConnected, kClosing };

  Channel(Term name, Word number) : name(name), number(number) {}
  Channel(const Channel&) = delete;

  const Term name;    // of the other node
  const Word number;  // its own, from 1 on

  // ---- Who refers to it -------------------------------------------------------------------------
  void retain() { references_.fetch_add(1, std::memory_order_relaxed); }
  void release() { references_.fetch_sub(1, std::memory_order_release); }
  Word references() const { return references_.load(std::memory_order_acquire); }
  bool is_referred_to() const { return references() != 0; }
  bool is_unused() const { return !is_referred_to() && state() == State::kIdle; }
  /// Takes it out of the table by unlink(): nobody begins a connection over it any more. False: it
  /// is in use after all.
  template <class Unlink>
  bool leave_table(Unlink unlink) {
    std::lock_guard lock(mutex_);
    if (!is_unused()) return false;
    has_left_ = true;
    unlink();
    return true;
  }

  State state() const { return state_of(word_.load(std::memory_order_acquire)); }
  /// The connection there is, pending or not.
  Route route();
  /// The same; where there is none net_kernel is asked for one.
  Route connect();
  /// More waits than the limit.
  bool is_busy() const { return busy_.load(std::memory_order_relaxed); }
  /// So many answers wait for the other node that nothing more is read of what it says: it asks and
  /// does not read. Nodes that make their senders wait do not come there: then what waits here is
  /// an answer to what was on the way, and that is less.
  bool owes_much() const { return owes_much_.load(std::memory_order_relaxed); }
  /// What this thread pushes by transmit while it has one of these is an answer.
  class Answering;

  // ---- Senders ----------------------------------------------------------------------------------
  /// The message goes behind those that wait. change(Relations&) is done with it, under the lock;
  /// false: the message is not needed.
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
  /// change(Relations&) alone. False when the connection is gone.
  template <class Change>
  bool change(const Route& route, Change change) {
    std::lock_guard lock(mutex_);
    if (!is_current(route)) return false;
    change(*relations_);
    return true;
  }
  /// The process has pushed, and does not run on before the queue has become shorter, or what it
  /// has pushed has gone out: who says little does not wait for the large messages of others.
  /// suspended_in: the function that others see it in meanwhile. In its own thread.
  void make_wait(Process& p, const Route& route, const Export* suspended_in);

  // ---- The connection ---------------------------------------------------------------------------
  /// The pending or existing connection; one begins to be pending if there is none. None: the last
  /// one is not quite gone yet.
  Route begin_connecting();
  /// It has a controller from now on, and these flags. False: it is not pending.
  [[nodiscard]] bool connected(std::shared_ptr<Connection> by, Flags flags);
  /// Whom it goes over, if it is connected.
  std::shared_ptr<Connection> connection();
  /// The connection of that number is gone. What is left to be told of it; nullptr: it is not
  /// there.
  std::unique_ptr<class ConnectionDown> lose(Word connection, Term reason);
  /// The same of one that is pending only.
  std::unique_ptr<class ConnectionDown> abort(Word connection);

  // ---- Who carries what waits -------------------------------------------------------------------
  /// Moves what waits to the holder's queue. False: there is nothing, and if the holder has nothing
  /// either whoever pushes next calls Connection::wake.
  bool take(const Connection& by, OutputQueue& to);
  /// What is left of what was taken: who waited for the rest goes on.
  void report_left(const Connection& by, const OutputQueue& left);
  /// Bytes that wait, here or with the holder.
  Word queued_bytes();

 private:
  friend class ConnectionDown;
  struct Waiter {
    Term process;
    Word pushed;  // the serial number of the last message when it began to wait
  };
  static State state_of(Word word) { return static_cast<State>(word & 3); }
  static Word number_of(Word word) { return word >> 2; }
  /// Under the lock.
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
  std::unique_ptr<ConnectionDown> lose_locked(std::unique_lock<std::mutex>& lock, Term reason);
  void closed();  // by a ConnectionDown that is through

  std::atomic<Word> references_{0};
  std::atomic<Word> word_{0};    // state and the connection's number
  std::atomic<Flags> flags_{0};  // written before word_
  std::atomic<bool> busy_{false}, owes_much_{false};

  std::mutex mutex_;  // guards what follows, and all changes
  std::shared_ptr<Connection> connection_;
  std::unique_ptr<Relations> relations_;
  bool has_left_ = false;  // the table
  std::vector<std::unique_ptr<OutgoingMessage>> waiting_;
  Word waiting_bytes_ = 0, taken_bytes_ = 0;
  Word waiting_answers_ = 0, taken_answers_ = 0;  // OutgoingMessage::memory of them
  bool awake_ = false;                            // the holder looks at waiting_ again before it rests
  Word pushed_ = 0;                               // messages, ever: OutgoingMessage::serial
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
  /// Tells at most `most` of them. Returns false if there are more. Under an epoch.
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
