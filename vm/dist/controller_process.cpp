// SPDX-License-Identifier: Apache-2.0
#include "vm/dist/controller_process.hpp"

#include <climits>
#include <list>

#include "vm/base/small_limits.hpp"
#include "vm/dist/channels.hpp"
#include "vm/lifecycle/exit.hpp"
#include "vm/message/process_receiver.hpp"
#include "vm/message/send.hpp"
#include "vm/process/process_state.hpp"

namespace vmrun::dist {

void ProcessConnection::send_notification() {
  Fragment* f = new_fragment(0);
  f->message = atoms::dist_data;
  (void)send_from_vm(controller, f);
}

void ProcessConnection::wake() {
  std::lock_guard lock(output_mutex_);
  if (std::exchange(wants_notification_, false)) send_notification();
}

void ProcessConnection::end(Term reason) {
  process_receiver.exit(controller, {.from = controller, .reason = reason, .fires_probe = false});
}

bool ProcessConnection::put_data(const std::uint8_t* data, std::size_t size, Binary* binary) {
  std::lock_guard lock(input_mutex_);
  return receive(data, size, binary);
}

bool ProcessConnection::get_data(Packet* packet) {
  std::lock_guard lock(output_mutex_);
  if (!next_packet(packet)) return false;
  report_left();
  return true;
}

// A thread that pushes after the queue was found empty calls wake, which waits for the lock.
void ProcessConnection::notify_of_data() {
  std::lock_guard lock(output_mutex_);
  if (has_output()) send_notification();
  else wants_notification_ = true;
}

// ---- The end of the process ---------------------------------------------------------------------

namespace {

constexpr int kPiece = usual_or_small(1000, 10);

struct Telling {
  Term controller;
  std::unique_ptr<ConnectionDown> down;
};
std::mutex& mutex = *new std::mutex;
std::list<Telling>& tellings = *new std::list<Telling>;

/// Controllers with a supervisor end with {shutdown, Reason}; processes that monitor nodes are told
/// Reason.
Term reason_of_down(Term reason) {
  const bool orderly = reason.is_tuple() && reason.tuple_arity() == 2 && reason.element(0) == atoms::shutdown;
  return orderly ? reason.element(1) : reason;
}

void lose_connections_of(Process& p) {
  const Term reason = reason_of_down(p.exit_reason);
  for_each_channel([&](Channel& channel) {
    const std::shared_ptr<Connection> c = channel.connection();
    if (!c || c->controller != p.id) return;
    if (auto down = channel.lose(c->number, reason)) {
      std::lock_guard lock(mutex);
      tellings.push_back({p.id, std::move(down)});
    }
  });
}

/// Returns one ConnectionDown of p. Only p uses it, as long as it is in the list. nullptr: there
/// are no more.
ConnectionDown* telling_of(const Process& p) {
  std::lock_guard lock(mutex);
  for (Telling& t : tellings)
    if (t.controller == p.id) return t.down.get();
  return nullptr;
}
void drop(const ConnectionDown* down) {
  std::list<Telling> dropped;
  std::lock_guard lock(mutex);
  for (auto it = tellings.begin(); it != tellings.end(); ++it)
    if (it->down.get() == down) return dropped.splice(dropped.begin(), tellings, it);
}

}  // namespace

bool end_connections(Process& p) {
  if (!p.extra || !p.extra->in_distribution) [[likely]]
    return true;
  lose_connections_of(p);
  ConnectionDown* down = telling_of(p);
  if (!down) return true;
  if (down->tell(kPiece)) drop(down);
  return !telling_of(p);
}

}  // namespace vmrun::dist
