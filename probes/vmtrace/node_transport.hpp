#pragma once

#include <string>

/// A node of an Erlang cluster as something to be traced (--node). Any thread.
namespace vmrun::d {

/// The command that reaches the machine of a vmrun node over the cluster's own connections, for
/// remote_target: a hidden node with a name that the other one gives it. cookie: empty: that of the
/// user's file.
std::string node_transport(const std::string& node, const std::string& cookie);

}  // namespace vmrun::d
