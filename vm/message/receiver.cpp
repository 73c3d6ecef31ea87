// SPDX-License-Identifier: Apache-2.0
#include "vm/message/receiver.hpp"

#include "vm/heap/copy.hpp"
#include "vm/message/clock_service.hpp"
#include "vm/message/destination.hpp"
#include "vm/message/process_receiver.hpp"
#include "vm/message/unreachable.hpp"
#include "vm/trace/trace.hpp"

/// `nobody`: what a receiver does for verbs that it does not implement.
namespace vmrun {

// A plain name that is not registered is an error of the sender; {Name, Node} and old references
// are not.
SendResult Receiver::send(Process& from, const Destination& to, Term message, SendOptions) {
  trace_send(from, to.given, message);
  return to.bare_name ? SendResult::kBadArgument : SendResult::kDone;
}
Reached Receiver::link(Term, Term, std::uint32_t) { return Reached::kNobody; }
void Receiver::unlink(Term, Term, LinkSettings) {}
bool Receiver::exit(Term, const ExitSignal&) { return true; }
Reached Receiver::monitor(Term, Term, RefKey, Term) { return Reached::kNobody; }
void Receiver::demonitor(Term, Term, RefKey) {}
void Receiver::down(Term, const DownSignal&) {}
Reached Receiver::group_leader(Term, Term) { return Reached::kNobody; }
Reached Receiver::ask(Term, Fragment*, std::uint8_t) { return Reached::kNobody; }
bool Receiver::is_there(Term) { return false; }
Term Receiver::as_watcher(Term who, RefKey, Heap& heap) { return copy_to(heap, who); }

namespace {

class Nobody final : public Receiver {};
constinit Nobody nobody;

}  // namespace

// Ports, resources and other nodes are those of higher layers.
constinit Receivers receivers{&process_receiver, &nobody, &nobody,     &alias_receiver,
                              &clock_service,    &nobody, &unreachable};

}  // namespace vmrun
