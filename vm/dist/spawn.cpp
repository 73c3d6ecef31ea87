#include "vm/dist/spawn.hpp"

#include "vm/dist/channels.hpp"
#include "vm/dist/control.hpp"
#include "vm/heap/build.hpp"
#include "vm/heap/copy.hpp"
#include "vm/lifecycle/spawn.hpp"
#include "vm/message/signal.hpp"
#include "vm/process/bif.hpp"
#include "vm/process/dirty_job.hpp"
#include "vm/process/table.hpp"

namespace vmrun::dist {
namespace {

/// {Reference, Pid or reason, Flags}: see message/spawn_answer.cpp.
void send_answer(Term parent, RefKey key, Term result, SWord flags) {
  Fragment* f = new_signal(SignalKind::kSpawnAnswer, 4 + kRefWords + copy_size_words(result));
  const Term copy = copy_into(*f, result);
  Term* hp = fragment_alloc(*f, kRefWords + 4);
  const Term ref = make_ref(hp, key);
  f->message = make_tuple(hp, ref, copy, Term::small(flags));
  Process* p = process_table.find(parent);
  if (!p || !push_signal(*p, f)) answer_dead(parent, f);
}

}  // namespace

// ---- Asking -------------------------------------------------------------------------------------

SpawnAsked request_spawn(Process& p, Term node, const SpawnCall& call, Term options, RefKey key,
                         const SpawnRequested& request) {
  const Route route = is_alive() ? channel_to(node).connect() : Route{};
  if (!route || !route.can(flag::kSpawn)) {
    extra_of(p).spawn_requests.insert(key, request);
    answer_spawn_failed(p.id, key, route ? atoms::notsup : atoms::noconnection);
    return SpawnAsked::kYes;
  }
  Term words[4];
  Term* hp = words;
  const Term mfa = make_tuple(hp, call.module, call.function, Term::small(list_length(call.arguments)));
  const StackRef ref(key);
  std::unique_ptr<OutgoingMessage> m =
      encode_message(Control(Operation::kSpawnRequest, Term(ref), p.id, p.group_leader, mfa, options).term(),
                     call.arguments, route.flags, steps_here());
  if (!m) return SpawnAsked::kMuchToEncode;
  m->sender = p.id.raw();
  extra_of(p).spawn_requests.insert(key, request);
  const Pushed pushed = route.channel->push(route, std::move(m), [&](Relations& r) {
    r.spawn_requested(key, p.id);
    return true;
  });
  if (pushed == Pushed::kLost) answer_spawn_failed(p.id, key, atoms::noconnection);
  else if (pushed == Pushed::kBusy) route.channel->make_wait(p, route);
  return SpawnAsked::kYes;
}

void answer_spawn_failed(Term parent, RefKey key, Term reason) { send_answer(parent, key, reason, 0); }

bool spawn_answered(const Route& route, const Term* answer) {
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
  if (awaited) send_answer(to, key, result, set);
  return true;
}

// ---- Answering ----------------------------------------------------------------------------------

namespace {

/// A request from elsewhere, and what becomes of it.
struct Order {
  const Route& route;
  Term ref, parent, leader;
  bool link = false, monitor = false;

  /// options: what is left when link and monitor are taken out. False: no proper list.
  bool read(Term list, Heap& heap, Term* options) {
    *options = Term::nil();
    for (; list.is_list(); list = list.tail()) {
      const Term o = list.head();
      if (o == atoms::link) link = true;
      else if (o == atoms::monitor) monitor = true;
      else {
        Term* hp = heap.alloc(2);
        *options = make_cons(hp, o, *options);
      }
    }
    return list.is_nil();
  }
  void answer(Term from, Term result) const {
    const SWord flags = result.is_pid() ? (link ? kSpawnedLinked : 0) | (monitor ? kSpawnedMonitored : 0) : 0;
    transmit(route, from, Control(Operation::kSpawnReply, ref, parent, Term::small(flags), result));
  }
  /// The new process is complete and cannot run yet: so nothing it says comes before the answer.
  static void announce(void* context, Process& child) {
    const Order& order = *static_cast<Order*>(context);
    RefKey key;
    order.route.channel->change(order.route, [&](Relations& r) {
      if (order.link) r.link_from_there(child.id, order.parent);
      if (order.monitor) key = r.monitor_from_there(order.parent, order.ref, child.id);
    });
    if (order.link) extra_of(child).links.set_by_other(order.parent, 1);
    if (!(key == RefKey{})) extra_of(child).monitored_by.insert(key, order.parent, Term::nil());
    order.answer(child.id, child.id);
  }
};

bool is_call(Term mfa, Term arguments) {
  return mfa.is_tuple() && mfa.tuple_arity() == 3 && mfa.element(0).is_atom() && mfa.element(1).is_atom() &&
         mfa.element(2).is_small() && list_length(arguments) == mfa.element(2).small_value() &&
         list_length(arguments) <= 255;
}

}  // namespace

bool (*read_spawn_options_elsewhere)(Term list, SpawnOptions* options) = nullptr;

bool spawn_for(const Route& route, const Term* request, Term arguments) {
  const Term ref = request[0], parent = request[1], leader = request[2], mfa = request[3];
  if (!ref.is_ref() || !parent.is_pid() || parent.is_local_pid() || !leader.is_pid() ||
      !is_call(mfa, arguments))
    return false;
  Order order{route, ref, parent, leader};
  SpawnOptions options = spawn_defaults;
  Arena arena;
  Term others;
  if (!order.read(request[4], arena, &others) || !read_spawn_options_elsewhere(others, &options)) {
    order.answer(parent, atoms::badopt);
    return true;
  }
  const SpawnFromElsewhere from{parent, leader, Order::announce, &order};
  options.from_elsewhere = &from;
  if (!spawn_process(nullptr, mfa.element(0), mfa.element(1), arguments, options))
    order.answer(parent, atoms::system_limit);
  return true;
}

}  // namespace vmrun::dist
