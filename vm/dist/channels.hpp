#pragma once

#include "vm/base/epoch.hpp"
#include "vm/dist/channel.hpp"
#include "vm/term/node.hpp"

/// All channels, and what this node is to others: its name, and the process net_kernel that makes
/// connections. Any thread, under an epoch, for channels that nobody needs are given back
/// (channel.hpp).
namespace vmrun::dist {

/// The channel to the node of this name, which is not this one's; made at first mention.
Channel& channel_to(Term name);
/// nullptr: there is none.
Channel* find_channel_to(Term name);
/// The same for an identifier of another node: pid, reference, {Name, Node}.
Channel& channel_of(Term identifier);
/// The node that is connected now whose identifiers have this number in their texts, with a
/// reference that is the caller's; nullptr: none.
Node* connected_node(Word number);
/// That of a handle, {Connection, Reference}; nullptr: it is none. Handles stand for connections
/// towards programs.
Channel* find_channel(Term handle, Word* connection);
/// Words for a handle, and the handle.
inline constexpr Word kHandleWords = 3 + kRefWords;
Term make_handle(Term*& hp, const Channel& channel, Word connection);

/// The one of that number; nullptr: there is none any more.
Channel* channel_at(Word number);
/// The first one behind that number, in the order in which they were made; nullptr: there are no
/// more.
Channel* channel_after(Word number);
/// Calls visit with each, in that order.
template <class F>
void for_each_channel(F&& visit) {
  const EpochGuard guard;
  Word number = 0;
  while (Channel* channel = channel_after(number)) {
    number = channel->number;
    visit(*channel);
  }
}
/// Gives back all channels, and entries of nodes, that nobody needs and that have waited for long
/// enough (node_delay_ns).
void give_back_unused();

inline bool is_alive() { return local_node_creation() != 0; }

/// erlang:setnode/2: the node has a name from now on, as long as this process, net_kernel, lives.
/// False: it has one.
[[nodiscard]] bool come_alive(Term name, std::uint32_t creation, Term net_kernel);
/// Whether anybody could be asked for a connection.
bool can_connect();
/// Asks net_kernel for one: {auto_connect, Node, Handle}.
void ask_for_connection(const Channel& channel, Word connection);

}  // namespace vmrun::dist
