// SPDX-License-Identifier: Apache-2.0
#include "vm/message/destination.hpp"

#include "vm/process/registry.hpp"
#include "vm/term/layout.hpp"
#include "vm/term/node.hpp"

namespace vmrun {
namespace {

Destination bearer_of(Term name, Term given) {
  const Term who = whereis(name);
  return {who ? &receiver_of(who) : receivers.nobody, who, given, name == given};
}

}  // namespace

Destination find_destination(Term given) {
  if (given.is_local_pid() || given.is_local_port()) return {&receiver_of(given), given, given};
  if (given.is_atom()) return bearer_of(given, given);
  if (given.is_local_ref()) return {is_alias(given) ? receivers.alias : receivers.nobody, given, given};
  if (given.is_pid() || given.is_ref()) return {receivers.remote, given, given};
  // A port can be addressed on its own node only.
  if (given.is_port()) return {is_of_former_self(given) ? receivers.nobody : nullptr, given, given};
  if (!given.is_tuple() || given.tuple_arity() != 2 || !given.element(0).is_atom() ||
      !given.element(1).is_atom())
    return {nullptr, given, given};
  if (is_local_node(given.element(1), local_node_creation())) return bearer_of(given.element(0), given);
  return {receivers.remote, given, given};
}

bool is_of_former_self(Term identifier) {
  return !identifier.is_immed() && (identifier.is_pid() || identifier.is_port()) &&
         reinterpret_cast<const ExternalObject*>(identifier.boxed_ptr())->node->name == local_node_name();
}

}  // namespace vmrun
