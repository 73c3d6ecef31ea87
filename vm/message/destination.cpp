#include "vm/message/destination.hpp"

#include "vm/heap/copy.hpp"
#include "vm/message/signal.hpp"
#include "vm/process/bif.hpp"
#include "vm/process/registry.hpp"
#include "vm/term/node.hpp"

namespace vmrun {
namespace {

using Kind = Destination::Kind;

Destination bearer_of(Term name, bool bare_name) {
  const Term who = whereis(name);
  if (!who) return {Kind::kNobody, kNonValue, bare_name};
  return {who.is_local_port() ? Kind::kPort : Kind::kProcess, who, bare_name};
}

}  // namespace

Destination find_destination(Term given) {
  if (given.is_local_pid()) return {Kind::kProcess, given};
  if (given.is_local_port()) return {Kind::kPort, given};
  if (given.is_atom()) return bearer_of(given, true);
  if (given.is_local_ref()) return {is_alias(given) ? Kind::kAlias : Kind::kNobody, given};
  if (given.is_pid() || given.is_port() || given.is_ref()) return {Kind::kElsewhere, given};
  if (!given.is_tuple() || given.tuple_arity() != 2 || !given.element(0).is_atom() ||
      !given.element(1).is_atom())
    return {Kind::kNothing, given};
  if (is_local_node(given.element(1), local_node_creation())) return bearer_of(given.element(0), false);
  return {Kind::kElsewhere, given};
}

RefKey monitor_unreachable(Process& p, Term target, Term tag, AliasMode alias) {
  const RefKey key = next_ref_key();
  MonitorOut monitor{Term::nil(), Term::nil(), nullptr, alias};
  if (tag) {
    monitor.tag = new_fragment(copy_size_words(tag));
    monitor.tag->message = copy_into(*monitor.tag, tag);
  }
  Extra& extra = extra_of(p);
  extra.monitors.insert(key, monitor);
  if (alias != AliasMode::kNone) extra.aliases.insert(key, alias);
  Fragment* f = new_signal(SignalKind::kDown, 6 + kAliasRefWords + copy_size_words(target));
  f->from_vm = 1;
  const Term object = copy_into(*f, target);
  Term* const tuple = fragment_alloc(*f, 6);
  Term* hp = fragment_alloc(*f, kRefWords);  // last, with room behind it, as in every kDown
  const Term ref = make_ref(hp, key);
  hp = tuple;
  f->message = make_tuple(hp, atoms::down, ref, atoms::process, object, atoms::noconnection);
  if (!push_signal(p, f)) Fragment::destroy(f);
  handle_arrivals(p);  // nobody is to see a monitor of nothing
  return key;
}

Term link_unreachable(Process& p, Term target) {
  if (!p.trap_exit) return exit_now(p, atoms::noconnection);
  Fragment* f = new_fragment(4 + copy_size_words(target));
  const Term from = copy_into(*f, target);
  Term* hp = fragment_alloc(*f, 4);
  f->message = make_tuple(hp, atoms::exit_upper, from, atoms::noconnection);
  if (p.mailbox.has_arrivals()) handle_arrivals(p);  // what came before stays before
  append_own_message(p, f);
  return atoms::true_;
}

}  // namespace vmrun
