// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

/// Tracing a node of an Erlang cluster by way of the cluster's own connections (--node). Any thread
/// may call.
namespace vmrun::d {

/// Returns the command that reaches the machine of a node, for remote_target. The command starts a
/// hidden node, whose name the other node assigns. An empty cookie stands for the one in the user's
/// file.
std::string node_transport(const std::string& node, const std::string& cookie);

}  // namespace vmrun::d
