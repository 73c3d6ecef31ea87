#pragma once

#include "vm/dist/channel.hpp"
#include "vm/term/node.hpp"

/// All channels, and what this node is to others: its name, and the process net_kernel that makes
/// connections. Any thread.
namespace vmrun::dist {

/// The channel to the node of this name, which is not this one's; made at first mention.
Channel& channel_to(Term name);
/// The same for an identifier of another node: pid, reference, {Name, Node}.
Channel& channel_of(Term identifier);
/// The node that is connected now whose identifiers have this number in their texts; nullptr: none.
Node* connected_node(Word number);
/// That of a handle, {Connection, Reference}; nullptr: it is none. Handles stand for connections
/// towards programs.
Channel* find_channel(Term handle, Word* connection);
/// Words for a handle, and the handle.
inline constexpr Word kHandleWords = 3 + kRefWords;
Term make_handle(Term*& hp, const Channel& channel, Word connection);

Word channel_count();
Channel& channel_at(Word number);  // from 1 on
/// Calls visit with each, in the order in which they were made.
template <class F>
void for_each_channel(F&& visit) {
  for (Word i = 1, n = channel_count(); i <= n; ++i) visit(channel_at(i));
}

inline bool is_alive() { return local_node_creation() != 0; }

/// erlang:setnode/2: the node has a name from now on, as long as this process, net_kernel, lives.
/// False: it has one.
[[nodiscard]] bool come_alive(Term name, std::uint32_t creation, Term net_kernel);
/// Whether anybody could be asked for a connection.
bool can_connect();
/// Asks net_kernel for one: {auto_connect, Node, Handle}.
void ask_for_connection(const Channel& channel, Word connection);

}  // namespace vmrun::dist
