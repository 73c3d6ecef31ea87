#pragma once

#include "vm/dist/channel.hpp"
#include "vm/dist/wire/wire.hpp"
#include "vm/lifecycle/spawn.hpp"
#include "vm/process/process_state.hpp"

/// Processes started on other nodes, and here for others. A request has a reference; the answer
/// comes as a signal, which process_receiver's side handles (message/spawn_answer.cpp).
namespace vmrun::dist {

struct SpawnCall {
  Term module, function, arguments;  // a proper list
};

enum class SpawnAsked : std::uint8_t {
  kYes,          // an answer will come, whatever becomes of it
  kMuchToEncode  // nothing has been done: call again on a dirty scheduler
};
/// Asks for a process on the node. options: as it goes over the wire; request: what is to be done
/// with the answer, taken over with kYes. In p's thread.
[[nodiscard]] SpawnAsked request_spawn(Process& p, Term node, const SpawnCall& call, Term options, RefKey key,
                                       const SpawnRequested& request);

/// Answers a request of a process here.
void answer_spawn_failed(Term parent, RefKey key, Term reason);

/// Reads spawn options; runtime/bif fills it in before main begins.
extern bool (*read_remote_spawn_options)(Term list, SpawnOptions* options);

// ---- From over there ----------------------------------------------------------------------------

// Each with a sequential-trace token, or nil.

/// {ReqId, From, GroupLeader, {Module, Function, Arity}, Options} and the arguments.
/// False: that is none.
[[nodiscard]] bool spawn_for(const Route& route, const Term* request, EncodedPayload& arguments, Term token);
/// {ReqId, To, Flags, Result}.
[[nodiscard]] bool spawn_answered(const Route& route, const Term* answer, Term token);

}  // namespace vmrun::dist
