// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "vm/dist/channel.hpp"
#include "vm/dist/wire/wire.hpp"
#include "vm/lifecycle/spawn.hpp"
#include "vm/process/process_state.hpp"

/// Processes that are started on other nodes, and here for other nodes. A request has a reference.
/// The answer comes as a signal, which message/spawn_answer.cpp handles.
namespace vmrun::dist {

struct SpawnCall {
  Term module, function, arguments;  // a proper list
};

enum class SpawnAsked : std::uint8_t {
  kYes,          // an answer will come, whatever happens
  kMuchToEncode  // nothing has been done: call again on a dirty scheduler
};
/// Requests a process on the node. options: as they go over the wire. request: what is to be done
/// with the answer; it is taken over with kYes. Called in the thread that runs p.
[[nodiscard]] SpawnAsked request_spawn(Process& p, Term node, const SpawnCall& call, Term options, RefKey key,
                                       const SpawnRequested& request);

/// Answers a request of a process of this node.
void answer_spawn_failed(Term parent, RefKey key, Term reason);

// ---- From other nodes ---------------------------------------------------------------------------

// Each takes a sequential-trace token, or nil.

/// request: {ReqId, From, GroupLeader, {Module, Function, Arity}, Options}; and the arguments.
/// Returns false if it is not a request.
[[nodiscard]] bool spawn_for(const Route& route, const Term* request, EncodedPayload& arguments, Term token);
/// answer: {ReqId, To, Flags, Result}.
[[nodiscard]] bool spawn_answered(const Route& route, const Term* answer, Term token);

}  // namespace vmrun::dist
