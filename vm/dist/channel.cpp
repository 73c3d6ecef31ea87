// SPDX-License-Identifier: Apache-2.0
#include "vm/dist/channel.hpp"

#include <utility>

#include "vm/dist/channels.hpp"
#include "vm/dist/connection.hpp"
#include "vm/dist/remote_spawn.hpp"
#include "vm/message/deliver.hpp"
#include "vm/probes/fire.hpp"
#include "vm/process/process_state.hpp"
#include "vm/process/process_table.hpp"
#include "vm/term/node.hpp"
#include "vm/trace/system_monitor.hpp"

namespace vmrun::dist {

std::atomic<Word> busy_limit{Word{1} << 20};

constinit thread_local const Channel* Channel::Answering::to_ = nullptr;

namespace {

// A factor of the limit for messages. It is twice the number of requests that the system's buffers
// can hold.
constexpr Word kMostOwed = 64;

bool is_much_to_owe(Word answers) {
  return answers >= kMostOwed * busy_limit.load(std::memory_order_relaxed);
}

}  // namespace

// ---- Where it leads -----------------------------------------------------------------------------

Route Channel::route() {
  for (;;) {
    const Word word = word_.load(std::memory_order_acquire);
    const State state = state_of(word);
    if (state == State::kPending) return {this, number_of(word), Route::kAssumed, true};
    if (state != State::kConnected) return {this, 0, 0, false};
    const Flags flags = flags_.load(std::memory_order_acquire);
    if (word_.load(std::memory_order_relaxed) == word) return {this, number_of(word), flags, false};
  }
}

Route Channel::connect() {
  if (const Route found = route()) [[likely]]
    return found;
  Word connection;
  {
    std::unique_lock lock(mutex_);
    if (has_left_) {
      lock.unlock();
      return channel_to(name).connect();
    }
    if (state() != State::kIdle || !can_connect()) return route();
    connection = begin_locked();
  }
  ask_for_connection(*this, connection);
  return {this, connection, Route::kAssumed, true};
}

Word Channel::begin_locked() {
  const Word connection = number_of(word_.load(std::memory_order_relaxed)) + 1;
  relations_ = std::make_unique<Relations>();
  set(State::kPending, connection);
  return connection;
}

Route Channel::begin_connecting() {
  std::unique_lock lock(mutex_);
  if (has_left_) {
    lock.unlock();
    return channel_to(name).begin_connecting();
  }
  if (state() == State::kIdle) begin_locked();
  return route();
}

/// Gives what waits the form that a node with these flags takes. Called under the lock.
void Channel::settle_waiting(Flags flags) {
  for (std::unique_ptr<OutgoingMessage>& m : waiting_) {
    if (!(m->needs & ~flags)) {
      m->otherwise.reset();
      continue;
    }
    const std::unique_ptr<OutgoingMessage> first = std::move(m);
    waiting_bytes_ -= first->bytes();
    if (first->is_answer) waiting_answers_ -= first->memory();
    m = std::move(first->otherwise);
    if (!m) continue;
    m->sender = first->sender;
    m->serial = first->serial;
    m->is_answer = first->is_answer;
    waiting_bytes_ += m->bytes();
    if (m->is_answer) waiting_answers_ += m->memory();
  }
  std::erase(waiting_, nullptr);
}

bool Channel::connected(std::shared_ptr<Connection> by, Flags flags) {
  std::vector<std::pair<RefKey, Term>> refused;  // requests of spawns that have waited, and who asked
  {
    std::lock_guard lock(mutex_);
    if (state() != State::kPending) return false;
    settle_waiting(flags);
    RefKey key;
    Term parent;
    while (!(flags & flag::kSpawn) && relations_->take_spawn(&key, &parent))
      refused.emplace_back(key, parent);
    connection_ = std::move(by);
    connection_->number = number_of(word_.load(std::memory_order_relaxed));
    flags_.store(flags, std::memory_order_release);
    awake_ = true;
    set(State::kConnected, connection_->number);
  }
  for (const auto& [key, parent] : refused) answer_spawn_failed(parent, key, atoms::notsup);
  return true;
}

std::shared_ptr<Connection> Channel::connection() {
  std::lock_guard lock(mutex_);
  return connection_;
}

// ---- Senders ------------------------------------------------------------------------------------

void Channel::let_go(const std::vector<Waiter>& waiters) {
  for (const Waiter& waiter : waiters) {
    Process* p = process_table.find(waiter.process);
    if (!p) continue;
    Fragment* f = new_signal(SignalKind::kConnectionDrained, 0);
    if (!push_signal(*p, f)) Fragment::destroy(f);
  }
}

Pushed Channel::push_locked(std::unique_lock<std::mutex>& lock, std::unique_ptr<OutgoingMessage> m) {
  m->serial = ++pushed_;
  waiting_bytes_ += m->bytes();
  if (m->is_answer) {
    waiting_answers_ += m->memory();
    if (is_much_to_owe(waiting_answers_ + taken_answers_)) owes_much_.store(true, std::memory_order_relaxed);
  }
  waiting_.push_back(std::move(m));
  const bool busy = waiting_bytes_ + taken_bytes_ >= busy_limit.load(std::memory_order_relaxed);
  if (busy) busy_.store(true, std::memory_order_relaxed);
  if (!connection_ || awake_) return busy ? Pushed::kBusy : Pushed::kSent;
  awake_ = true;
  const std::shared_ptr<Connection> asleep = connection_;
  lock.unlock();
  asleep->wake();
  return busy ? Pushed::kBusy : Pushed::kSent;
}

namespace {

[[gnu::cold, gnu::noinline]] void fire_busy(Process& p, const Channel& channel, const Connection* by) {
  probe::fire_dist_port_busy(local_node_name(), by ? by->controller : kNonValue, channel.name, p.id);
}

}  // namespace

const Export* waits_in_send() {
  static const Export* const in =
      export_entry(intern_atom("erts_internal"), intern_atom("dsend_continue_trap"), 1);
  return in;
}
const Export* waits_in_other_signal() {
  static const Export* const in = export_entry(atoms::erlang, intern_atom("bif_return_trap"), 2);
  return in;
}

void Channel::make_wait(Process& p, const Route& route, const Export* suspended_in) {
  Extra& extra = extra_of(p);
  if (extra.waits_for_connection || extra.async_dist) return;
  Term controller = kNonValue;
  {
    std::lock_guard lock(mutex_);
    if (!is_current(route) || !busy_.load(std::memory_order_relaxed)) return;
    if (connection_) controller = connection_->controller;
    if (probe::dist_port_busy_enabled()) [[unlikely]]
      fire_busy(p, *this, connection_.get());
    waiters_.push_back({p.id, pushed_});
  }
  extra.waits_for_connection = true;
  extra.suspended_in = suspended_in;
  ++p.suspend_count;
  p.reductions = 0;
  if (controller) monitor_busy_connection(p, controller);
}

// ---- The thread that holds the output -----------------------------------------------------------

bool Channel::take(const Connection& by, OutputQueue& to) {
  std::vector<std::unique_ptr<OutgoingMessage>> taken;
  {
    std::lock_guard lock(mutex_);
    if (connection_.get() != &by) return false;
    if (waiting_.empty()) {
      if (to.empty()) awake_ = false;
      return false;
    }
    taken.swap(waiting_);
    taken_bytes_ += waiting_bytes_;
    taken_answers_ += waiting_answers_;
    waiting_bytes_ = waiting_answers_ = 0;
  }
  for (std::unique_ptr<OutgoingMessage>& m : taken) to.push(std::move(m));
  return true;
}

void Channel::report_left(const Connection& by, const OutputQueue& left) {
  std::vector<Waiter> done;
  {
    std::lock_guard lock(mutex_);
    if (connection_.get() != &by) return;
    taken_bytes_ = left.bytes();
    taken_answers_ = left.answers();
    if (!is_much_to_owe(waiting_answers_ + taken_answers_))
      owes_much_.store(false, std::memory_order_relaxed);
    if (!busy_.load(std::memory_order_relaxed)) return;
    if (waiting_bytes_ + taken_bytes_ < busy_limit.load(std::memory_order_relaxed)) {
      busy_.store(false, std::memory_order_relaxed);
      done.swap(waiters_);
    } else {
      std::erase_if(waiters_, [&](const Waiter& w) {
        const bool has_sent = left.has_sent(w.process.raw(), w.pushed);
        if (has_sent) done.push_back(w);
        return has_sent;
      });
    }
  }
  let_go(done);
}

Word Channel::queued_bytes() {
  std::lock_guard lock(mutex_);
  return waiting_bytes_ + taken_bytes_;
}

// ---- The end of a connection --------------------------------------------------------------------

std::unique_ptr<ConnectionDown> Channel::lose_locked(std::unique_lock<std::mutex>& lock, Term reason) {
  auto down = std::make_unique<ConnectionDown>(*this, reason);
  down->connection = number_of(word_.load(std::memory_order_relaxed));
  down->was_up = state() == State::kConnected;
  down->was_visible = connection_ && connection_->is_visible();
  if (connection_) down->controller = connection_->controller;
  down->relations = std::move(relations_);
  const std::shared_ptr<Connection> gone = std::move(connection_);
  const std::vector<std::unique_ptr<OutgoingMessage>> lost = std::move(waiting_);
  const std::vector<Waiter> waiters = std::move(waiters_);
  waiting_.clear();
  waiters_.clear();
  waiting_bytes_ = taken_bytes_ = waiting_answers_ = taken_answers_ = 0;
  awake_ = false;
  busy_.store(false, std::memory_order_relaxed);
  owes_much_.store(false, std::memory_order_relaxed);
  set(State::kClosing, down->connection);
  lock.unlock();
  let_go(waiters);
  return down;
}

std::unique_ptr<ConnectionDown> Channel::lose(Word connection, Term reason) {
  std::unique_lock lock(mutex_);
  const Word word = word_.load(std::memory_order_relaxed);
  if (number_of(word) != connection || state_of(word) != State::kConnected) return nullptr;
  return lose_locked(lock, reason);
}

std::unique_ptr<ConnectionDown> Channel::abort(Word connection) {
  std::unique_lock lock(mutex_);
  const Word word = word_.load(std::memory_order_relaxed);
  if (number_of(word) != connection || state_of(word) != State::kPending) return nullptr;
  return lose_locked(lock, atoms::noconnection);
}

void Channel::closed() {
  std::lock_guard lock(mutex_);
  set(State::kIdle, number_of(word_.load(std::memory_order_relaxed)));
}

}  // namespace vmrun::dist
