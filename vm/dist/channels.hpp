// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "vm/base/epoch.hpp"
#include "vm/dist/channel.hpp"
#include "vm/term/node.hpp"

/// All channels, and what this node is to others: its name, and the process net_kernel that makes
/// connections. Any thread, under an epoch, since unused channels are given back (channel.hpp).
namespace vmrun::dist {

/// Returns the channel to the node of this name, which is another node. It is made at the first
/// call.
Channel& channel_to(Term name);
/// Returns that channel, or nullptr if it has not been made.
Channel* find_channel_to(Term name);
/// Returns the channel for an identifier of another node: pid, reference, {Name, Node}.
Channel& channel_of(Term identifier);
/// Returns the connected node whose identifiers have this number in their text form, with a
/// reference that the caller owns; nullptr: no such node.
Node* connected_node(Word number);
/// Returns the channel of a handle, {Connection, Reference}; nullptr if it is not a handle. Handles
/// stand for connections in programs.
Channel* find_channel(Term handle, Word* connection);
/// The size of a handle in words, and a new handle.
inline constexpr Word kHandleWords = 3 + kRefWords;
Term make_handle(Term*& hp, const Channel& channel, Word connection);

/// Returns the channel of that number; nullptr if it is gone.
Channel* channel_at(Word number);
/// Returns the first channel with a higher number; channels are numbered as they are made. nullptr:
/// there are no more.
Channel* channel_after(Word number);
/// Calls visit with each channel, in that order.
template <class F>
void for_each_channel(F&& visit) {
  const EpochGuard guard;
  Word number = 0;
  while (Channel* channel = channel_after(number)) {
    number = channel->number;
    visit(*channel);
  }
}
/// Gives back all channels, and entries of nodes, that are unused and have been so for long enough
/// (node_delay_ns).
void give_back_unused();

inline bool is_alive() { return local_node_creation() != 0; }

/// erlang:setnode/2: the node has a name from now on, as long as this process, net_kernel, lives.
/// Returns false if it already has one.
[[nodiscard]] bool come_alive(Term name, std::uint32_t creation, Term net_kernel);
/// Whether there is a process that can be asked for a connection.
bool can_connect();
/// Asks net_kernel for a connection: {auto_connect, Node, Handle}.
void ask_for_connection(const Channel& channel, Word connection);

/// A process ends: gives up what it has set up with monitor_node and monitor_nodes, and the node's
/// name if it is net_kernel. True: it is done.
bool leave_distribution(Process& p);

}  // namespace vmrun::dist
