// SPDX-License-Identifier: Apache-2.0
#include "vm/dist/channels.hpp"
#include "vm/dist/node_events.hpp"
#include "vm/dist/remote_spawn.hpp"
#include "vm/message/process_receiver.hpp"

/// The end of a connection. Processes with links, monitors or requests over it are told, each kind
/// in the order in which they were set up.
namespace vmrun::dist {
namespace {

void tell_link(Term here, const RemotePid& there) {
  Arena arena;
  process_receiver.exit(here, {.from = there.term(arena), .reason = atoms::noconnection, .by_link = true});
  there.node->release();
}

void tell_node_watcher(Term pid, unsigned times, Term node) {
  while (times--) send_nodedown(pid, node);
}

void tell_monitor(RefKey key, const MonitorFromHere& was) {
  process_receiver.down(
      was.watcher, {.key = key, .object = was.target, .name = Term::nil(), .reason = atoms::noconnection});
  drop_identifier(was.target);
}

/// The watcher cannot be reached any more, so its monitor on the process of this node ends.
void end_monitored(RefKey key, const MonitorFromThere& was) {
  process_receiver.demonitor(was.target, was.watcher, key);
  Relations::drop(was);
}

}  // namespace

bool ConnectionDown::tell(int most) {
  RefKey key;
  Term pid;
  RemotePid there;
  unsigned times;
  MonitorFromHere from_here;
  MonitorFromThere from_there;
  const auto more = [&] { return most-- > 0; };
  while (more() && relations->take_link(&pid, &there)) tell_link(pid, there);
  while (more() && relations->take_node_watcher(&pid, &times)) tell_node_watcher(pid, times, channel.name);
  while (more() && relations->take_monitor(&key, &from_here)) tell_monitor(key, from_here);
  while (more() && relations->take_monitored(&key, &from_there)) end_monitored(key, from_there);
  while (more() && relations->take_spawn(&key, &pid)) answer_spawn_failed(pid, key, atoms::noconnection);
  if (most <= 0) return false;
  if (was_up)
    tell_node_event({.node = channel.name,
                     .up = false,
                     .visible = was_visible,
                     .connection = connection,
                     .reason = reason});
  done_ = true;
  channel.closed();
  return true;
}

ConnectionDown::~ConnectionDown() {
  if (!done_) channel.closed();
  channel.release();
}

}  // namespace vmrun::dist
