// SPDX-License-Identifier: Apache-2.0
#include "vm/dist/remote_spawn.hpp"

#include "vm/dist/channels.hpp"
#include "vm/dist/control.hpp"
#include "vm/dist/dist_upcalls.hpp"
#include "vm/dist/message.hpp"
#include "vm/dist/outgoing.hpp"
#include "vm/heap/build.hpp"
#include "vm/heap/copy.hpp"
#include "vm/lifecycle/spawn.hpp"
#include "vm/message/deliver.hpp"
#include "vm/message/handle.hpp"
#include "vm/message/priority.hpp"
#include "vm/process/bif.hpp"
#include "vm/process/dirty_job.hpp"
#include "vm/process/process_table.hpp"
#include "vm/term/node.hpp"
#include "vm/trace/seq_trace.hpp"
#include "vm/trace/trace.hpp"

namespace vmrun::dist {
namespace {

/// The request in the form that the system tracer is shown.
Term request_message(Heap& heap, Term ref, Term parent, Term leader, Term mfa, Term options) {
  Term* hp = heap.alloc(7);
  return make_tuple(hp, atoms::spawn_request, ref, parent, leader, mfa, options);
}

/// Sends {Reference, Pid or reason, Flags}: see message/spawn_answer.cpp.
void send_answer(Term parent, RefKey key, Term result, SWord flags, Term token, bool from_vm) {
  Fragment* f =
      new_signal(SignalKind::kSpawnAnswer, 4 + kRefWords + copy_size_words(result) + token_copy_words(token));
  const Term copy = copy_into(*f, result);
  Term* hp = fragment_alloc(*f, kRefWords + 4);
  const Term ref = make_ref(hp, key);
  f->message = make_tuple(hp, ref, copy, Term::small(flags));
  attach_token(token, *f);
  f->from_vm = from_vm;
  Process* p = process_table.find(parent);
  if (!p || !push_signal(*p, f)) answer_dead(parent, f);
}

}  // namespace

// ---- Requests -----------------------------------------------------------------------------------

namespace {

/// The request and its arguments count as one message each.
Term token_of_request(Process& p, const Route& route, Term ref, Term mfa, Term options, Term arguments,
                      Heap& arena) {
  const Term node = route.channel->name;
  (void)token_for(p, node, request_message(arena, ref, p.id, p.group_leader, mfa, options), route, arena);
  return token_for(p, node, arguments, route, arena);
}

/// A monitor that the answer may bring counts from now on.
void await_answer(Process& p, RefKey key, const SpawnRequested& request) {
  extra_of(p).spawn_requests.insert(key, request);
  if (request.priority_monitor) mark_priority_monitor(p, key);
}

}  // namespace

SpawnAsked request_spawn(Process& p, Term node, const SpawnCall& call, Term options, RefKey key,
                         const SpawnRequested& request) {
  const EpochGuard guard;  // on a dirty scheduler
  const Route route = is_alive() ? channel_to(node).connect() : Route{};
  const bool traced = p.observed & kHasToken;
  if (traced && too_long(copy_size_words_here(call.arguments))) return SpawnAsked::kMuchToEncode;
  if (!route || !route.can(flag::kSpawn)) {
    await_answer(p, key, request);
    answer_spawn_failed(p.id, key, route ? atoms::notsup : atoms::noconnection);
    return SpawnAsked::kYes;
  }
  Term words[4];
  Term* hp = words;
  const Term mfa = make_tuple(hp, call.module, call.function, Term::small(list_length(call.arguments)));
  const StackRef ref(key);
  Arena arena;
  const Term token =
      traced ? token_of_request(p, route, ref, mfa, options, call.arguments, arena) : Term::nil();
  EncodedMessage encoded = encode_message(Control(Operation::kSpawnRequest, Operation::kSpawnRequestTt, token,
                                                  Term(ref), p.id, p.group_leader, mfa, options)
                                              .term(),
                                          call.arguments, route.flags, traced ? kAllSteps : steps_here());
  if (encoded.how == Encoded::kMoreSteps) return SpawnAsked::kMuchToEncode;
  await_answer(p, key, request);
  if (encoded.how == Encoded::kTooLarge) {
    answer_spawn_failed(p.id, key, atoms::system_limit);
    return SpawnAsked::kYes;
  }
  std::unique_ptr<OutgoingMessage> m = std::move(encoded.message);
  m->sender = p.id.raw();
  m->needs = flag::kSpawn;  // a node in C has it not: Channel::connected answers then
  bool supported = true;
  const Pushed pushed = route.channel->push(route, std::move(m), [&](Relations& r) {
    supported = route.channel->route().can(flag::kSpawn);  // it may have become known meanwhile
    if (supported) r.spawn_requested(key, p.id);
    return supported;
  });
  if (!supported) answer_spawn_failed(p.id, key, atoms::notsup);
  else if (pushed == Pushed::kLost) answer_spawn_failed(p.id, key, atoms::noconnection);
  else if (pushed == Pushed::kBusy) route.channel->make_wait(p, route, waits_in_other_signal());
  return SpawnAsked::kYes;
}

void answer_spawn_failed(Term parent, RefKey key, Term reason) {
  send_answer(parent, key, reason, 0, Term::nil(), true);
}

bool spawn_answered(const Route& route, const Term* answer, Term token) {
  const Term ref = answer[0], to = answer[1], flags = answer[2], result = answer[3];
  if (!ref.is_ref() || !to.is_pid() || !flags.is_small() || !(result.is_pid() || result.is_atom()))
    return false;
  if (!ref.is_local_ref() || !to.is_local_pid()) return true;
  const RefKey key = ref_key(ref);
  const SWord set = result.is_pid() ? flags.small_value() : 0;
  bool awaited = false;
  route.channel->change(route, [&](Relations& r) {
    awaited = r.spawn_answered(key);
    if (!awaited) return;
    if (set & kSpawnedLinked) r.link_from_here(to, result);
    if (set & kSpawnedMonitored) r.monitor_from_here(key, to, result);
  });
  if (awaited) send_answer(to, key, result, set, token, false);
  return true;
}

// ---- Answers ------------------------------------------------------------------------------------

namespace {

/// The arguments of a process to be spawned. The process itself decodes large ones; but not when
/// there is a token, since its tracer is shown them.
class Arguments {
 public:
  Arguments(EncodedPayload& payload, SWord count, Term token) : payload_(payload), count_(count) {
    if (token.is_nil() && !is_decoded_at_once(payload)) return;
    late_ = false;
    fragment_ = decode_payload(payload, 0).fragment;
  }
  ~Arguments() {
    if (fragment_) Fragment::destroy(fragment_);
  }
  Arguments(const Arguments&) = delete;
  bool are_good() const { return late_ || (fragment_ && list_length(fragment_->message) == count_); }
  Term list() const { return late_ ? Term::nil() : fragment_->message; }
  void give(Process& child, const Route& route) const {
    if (late_) give_arguments(child, route, payload_, count_);
  }

 private:
  EncodedPayload& payload_;
  const SWord count_;
  bool late_ = true;
  Fragment* fragment_ = nullptr;
};

/// A request from another node, and its execution.
struct Order {
  const Route& route;
  Term ref, parent, leader, mfa, options, token;
  const Arguments& arguments;
  bool link = false, monitor = false;

  /// others: the options without link and monitor. Returns false if the options are not a proper
  /// list.
  bool read(Heap& heap, Term* others) {
    *others = Term::nil();
    Term list = options;
    for (; list.is_list(); list = list.tail()) {
      const Term o = list.head();
      if (o == atoms::link) link = true;
      else if (o == atoms::monitor) monitor = true;
      else {
        Term* hp = heap.alloc(2);
        *others = make_cons(hp, o, *others);
      }
    }
    return list.is_nil();
  }
  /// child: nullptr if no process was made.
  void answer(Process* child, Term result) const {
    const SWord flags = child ? (link ? kSpawnedLinked : 0) | (monitor ? kSpawnedMonitored : 0) : 0;
    Arena arena;
    transmit(route, child ? child->id : parent,
             Control(Operation::kSpawnReply, Operation::kSpawnReplyTt, token_of_answer(child, result, arena),
                     ref, parent, Term::small(flags), result));
  }
  Term token_of_answer(Process* child, Term result, Heap& arena) const {
    if (token.is_nil()) return token;
    SpawnEvents events;
    if (seq_tracer_listens()) {
      events.request = request_message(arena, ref, parent, leader, mfa, options);
      Term* hp = arena.alloc(5);
      events.reply = make_tuple(hp, atoms::spawn_reply, ref, child ? atoms::ok : atoms::error, result);
    }
    return take_seq_token(child, local_node_name(), parent, token, events, arguments.list(), arena);
  }
  /// The new process is complete and cannot run yet, so nothing that it sends comes before the
  /// answer.
  static void announce(void* context, Process& child) {
    const Order& order = *static_cast<Order*>(context);
    if (new_processes_traced()) [[unlikely]]
      trace_remote_spawn(order.parent, child, order.link);
    RefKey key;
    order.route.channel->change(order.route, [&](Relations& r) {
      if (order.link) r.link_from_there(child.id, order.parent);
      if (order.monitor) key = r.monitor_from_there(order.parent, order.ref, child.id);
    });
    if (order.link) extra_of(child).links.set_by_other(order.parent, 1);
    if (!(key == RefKey{})) extra_of(child).monitored_by.insert(key, order.parent, Term::nil());
    order.answer(&child, child.id);
    order.arguments.give(child, order.route);
  }
};

bool is_call(Term mfa) {
  return mfa.is_tuple() && mfa.tuple_arity() == 3 && mfa.element(0).is_atom() && mfa.element(1).is_atom() &&
         mfa.element(2).is_small() && mfa.element(2).small_value() >= 0;
}

}  // namespace

bool spawn_for(const Route& route, const Term* request, EncodedPayload& payload, Term token) {
  const Term ref = request[0], parent = request[1], leader = request[2], mfa = request[3];
  if (!ref.is_ref() || !parent.is_pid() || parent.is_local_pid() || !leader.is_pid() || !is_call(mfa))
    return false;
  const SWord arity = mfa.element(2).small_value();
  const Arguments arguments(payload, arity, token);
  if (!arguments.are_good()) return false;
  Order order{route, ref, parent, leader, mfa, request[4], token, arguments};
  SpawnOptions options = spawn_defaults;
  Arena arena;
  Term others;
  if (!order.read(arena, &others) || !dist_upcalls.read_spawn_options(others, &options)) {
    order.answer(nullptr, atoms::badopt);
    return true;
  }
  if (arity > kMostArguments) {
    order.answer(nullptr, atoms::system_limit);
    return true;
  }
  const RemoteSpawn from{parent, leader, static_cast<std::uint8_t>(arity), Order::announce, &order};
  options.remote_spawn = &from;
  if (!spawn_process(nullptr, mfa.element(0), mfa.element(1), arguments.list(), options))
    order.answer(nullptr, atoms::system_limit);
  return true;
}

}  // namespace vmrun::dist
