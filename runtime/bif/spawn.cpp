// SPDX-License-Identifier: Apache-2.0
#include "vm/lifecycle/spawn.hpp"

#include "runtime/bif/process_options.hpp"
#include "runtime/bif/support.hpp"
#include "vm/base/epoch.hpp"
#include "vm/code/module.hpp"
#include "vm/dist/channels.hpp"
#include "vm/dist/remote_spawn.hpp"
#include "vm/heap/copy.hpp"
#include "vm/heap/literal.hpp"
#include "vm/message/abandoned_spawns.hpp"
#include "vm/message/priority.hpp"
#include "vm/message/send.hpp"
#include "vm/process/dirty_job.hpp"
#include "vm/process/report.hpp"
#include "vm/term/node.hpp"
#include "vm/term/print.hpp"

/// spawn and its many forms.
namespace vmrun {
namespace {

struct SpawnedCall {
  Term module, function, arguments;
};

/// A fun is started as erlang:apply(Fun, []).
SpawnedCall fun_call(Process& p, Term fun) {
  Term* hp = p.heap.alloc(4);
  const Term none = make_cons(hp, Term::nil(), Term::nil());
  return {atoms::erlang, atoms::apply, make_cons(hp, fun, none)};
}

/// Spawns a process. With large arguments returns the non-value and sets *leaves: the call is then
/// repeated on a dirty scheduler.
Term spawn_or_leave(Process& p, const SpawnedCall& call, const SpawnOptions& options, RefKey* key,
                    bool* leaves) {
  const auto& [module, function, arguments] = call;
  *leaves = false;
  if (dirty_thread_kind() == DirtyKind::kNone) [[likely]]
    return spawn_process(&p, module, function, arguments, options, key, leaves);
  EpochGuard guard;  // protects shared literals until the process is queued
  look_at_leaving_literals();
  return spawn_process(&p, module, function, arguments, options, key);
}

Term start(Process& p, const SpawnedCall& call, const SpawnOptions& options) {
  if (came_back(p)) return continue_on_dirty(p);
  if (!call.module.is_atom() || !call.function.is_atom()) return raise_badarg(p);
  const SWord arity = list_length(call.arguments);
  if (arity < 0) return raise_badarg(p);
  if (arity > kMostArguments) return raise_system_limit(p);
  RefKey key;
  bool leaves;
  const Term pid = spawn_or_leave(p, call, options, &key, &leaves);
  if (!pid) return leaves ? continue_on_dirty(p) : raise_system_limit(p);
  if (!options.monitor) return pid;
  Term* hp = p.heap.alloc(kAliasRefWords);
  const Term ref =
      options.monitor_alias == AliasMode::kNone ? make_ref(hp, key) : make_alias_ref(hp, key, p.id);
  return new_tuple(p.heap, pid, ref);
}

Term start_fun(Process& p, Term fun, const SpawnOptions& options) {
  if (!fun.is_fun()) return raise_badarg(p);
  return start(p, fun_call(p, fun), options);
}

bool is_here(Term node) { return is_local_node(node, local_node_creation()); }

/// Used when the node cannot be reached. Starts a local process that exits with the reason, and
/// logs a warning.
Term start_unreachable(Process& p, Term node, const SpawnedCall& call, const SpawnOptions& options,
                       Term reason = atoms::noconnection) {
  if (!call.module.is_atom() || !call.function.is_atom() || list_length(call.arguments) < 0)
    return raise_badarg(p);
  report_warning("** Can not start " + term_text(call.module) + ":" + term_text(call.function) + "," +
                 term_text(call.arguments) +
                 (options.as_given.is_nil() ? "" : " (" + term_text(options.as_given) + ")") + " on " +
                 std::string(atom_text(node)) + " **\n");
  Term* hp = p.heap.alloc(2);
  return start(p, {atoms::erlang, atoms::exit, make_cons(hp, reason, Term::nil())}, options);
}

/// Starts a process on another node: remote_spawn sends the request and waits.
Term spawn_remote(Process& p, Term node, const SpawnedCall& call, const SpawnOptions& options) {
  if (!call.module.is_atom() || !call.function.is_atom() || list_length(call.arguments) < 0)
    return raise_badarg(p);
  Term list = options.as_given;
  for (const auto& [wanted, name] :
       {std::pair{options.monitor, atoms::monitor}, std::pair{options.link, atoms::link}}) {
    if (!wanted || !options.as_given.is_nil()) continue;
    Term* hp = p.heap.alloc(2);
    list = make_cons(hp, name, list);
  }
  static Export* const spawn = export_entry(intern_atom("remote_spawn"), atoms::spawn, 5);
  return trap_to(p, spawn, {node, call.module, call.function, call.arguments, list});
}

Term start_on(Process& p, Term node, const SpawnedCall& call, const SpawnOptions& options) {
  if (!node.is_atom()) return raise_badarg(p);
  if (is_here(node)) return start(p, call, options);
  return dist::is_alive() ? spawn_remote(p, node, call, options) : start_unreachable(p, node, call, options);
}
Term start_fun_on(Process& p, Term node, Term fun, const SpawnOptions& options) {
  return fun.is_fun() ? start_on(p, node, fun_call(p, fun), options) : raise_badarg(p);
}

SpawnOptions with(bool link, bool monitor) {
  SpawnOptions options = spawn_defaults;
  options.link = link;
  options.monitor = monitor;
  return options;
}

Term start_options(Process& p, const SpawnedCall& call, Term list, Term node = local_node_name()) {
  SpawnOptions options = spawn_defaults;
  options.as_given = list;
  if (node.is_atom() && !is_here(node) && dist::is_alive())
    return list_length(list) < 0 ? raise_badarg(p) : spawn_remote(p, node, call, options);
  if (!read_spawn_options(list, &options)) return raise_badarg(p);
  return start_on(p, node, call, options);
}

/// spawn_request: on this node it is done at once, but the answer is still a message {Tag,
/// RequestId, ok | error, Pid | Reason}.
struct RequestOptions {
  SpawnOptions spawn = spawn_defaults;
  Term tag = atoms::spawn_reply;
  bool reply_success = true, reply_error = true;
  Term failure = kNonValue;
  Term others = Term::nil();  // those that concern the process
};

/// Returns false when the options do not say how to answer.
bool read_request_options(Process& p, Term list, RequestOptions* options) {
  Term rest = Term::nil();
  for (; list.is_list(); list = list.tail()) {
    const Term o = list.head();
    if (o.is_tuple() && o.tuple_arity() == 2 && o.element(0) == atoms::reply_tag) {
      options->tag = o.element(1);
    } else if (o.is_tuple() && o.tuple_arity() == 2 && o.element(0) == atoms::reply) {
      const Term how = o.element(1);
      if (how == atoms::yes || how == atoms::no || how == atoms::error_only || how == atoms::success_only) {
        options->reply_success = how == atoms::yes || how == atoms::success_only;
        options->reply_error = how == atoms::yes || how == atoms::error_only;
      } else {  // a bad option, here as on another node
        Term* hp = p.heap.alloc(2);
        rest = make_cons(hp, o, rest);
      }
    } else {
      Term* hp = p.heap.alloc(2);
      rest = make_cons(hp, o, rest);
    }
  }
  for (Term o = rest; o.is_list(); o = o.tail()) {
    Term* hp = p.heap.alloc(2);
    options->others = make_cons(hp, o.head(), options->others);
  }
  if (!read_spawn_options(rest, &options->spawn)) options->failure = atoms::badopt;
  return list.is_nil();
}

Term request_id(Process& p, const RequestOptions& options, RefKey key) {
  Term* hp = p.heap.alloc(kAliasRefWords);
  return options.spawn.monitor_alias == AliasMode::kNone ? make_ref(hp, key) : make_alias_ref(hp, key, p.id);
}

// ---- On other nodes -----------------------------------------------------------------------------

/// Returns the options that are sent to the other node, without those of monitors and links, which
/// matter only here. Wrong ones are sent, for the other node to refuse them.
Term remote_options(Process& p, Term list) {
  ListBuilder out(p.heap);
  for (; list.is_list(); list = list.tail()) {
    const Term o = list.head();
    const Term kind = o.is_tuple() && o.tuple_arity() == 2 ? o.element(0) : Term::nil();
    bool priority;
    MonitorOptions watching;
    const bool matters_here = (kind == atoms::monitor && read_monitor_options(o.element(1), &watching)) ||
                              (kind == atoms::link && release_has(Trait::kPriorityMessages) &&
                               read_link_options(o.element(1), &priority));
    out.add(matters_here ? kind : o);
  }
  return out.finish();
}

Fragment* kept(Term t) {
  Fragment* f = new_fragment(copy_size_words(t, Literals::kCopied));
  f->message = copy_into(*f, t, Literals::kCopied);
  return f;
}

/// Returns the reference of the request, or the non-value when it is to be encoded on a dirty
/// scheduler.
Term request_remote(Process& p, Term node, const SpawnedCall& call, const RequestOptions& options) {
  const RefKey key = next_ref_key();
  SpawnRequested asked;
  asked.alias = options.spawn.monitor_alias;
  asked.reply_success = options.reply_success;
  asked.reply_error = options.reply_error;
  asked.priority_link = options.spawn.priority_link;
  asked.priority_monitor = options.spawn.priority_monitor;
  if (options.tag != atoms::spawn_reply) asked.tag = kept(options.tag);
  if (options.spawn.monitor_tag) asked.monitor_tag = kept(options.spawn.monitor_tag);
  const auto& [module, function, arguments] = call;
  if (dist::request_spawn(p, node, {module, function, arguments}, remote_options(p, options.others), key,
                          asked) == dist::SpawnAsked::kMuchToEncode) {
    asked.drop_tag();
    asked.drop_monitor_tag();
    return kNonValue;
  }
  if (asked.alias != AliasMode::kNone) extra_of(p).aliases.insert(key, asked.alias);
  return request_id(p, options, key);
}

Term request(Process& p, const SpawnedCall& call, Term list, Term node = local_node_name()) {
  if (came_back(p)) return continue_on_dirty(p);
  const auto& [module, function, arguments] = call;
  if (!node.is_atom() || !module.is_atom() || !function.is_atom() || list_length(arguments) < 0)
    return raise_badarg(p);
  RequestOptions options;
  if (!read_request_options(p, list, &options)) return raise_badarg(p);
  if (!is_here(node)) {
    const Term id = request_remote(p, node, call, options);
    return id ? id : continue_on_dirty(p);
  }
  if (list_length(arguments) > kMostArguments) options.failure = atoms::system_limit;
  SpawnRequest request{options.tag, options.reply_success, next_ref_key()};
  options.spawn.request = &request;
  options.spawn.as_given = list;
  RefKey monitor_key;
  Term pid;
  if (!options.failure) {
    bool leaves;
    pid = spawn_or_leave(p, call, options.spawn, &monitor_key, &leaves);
    if (leaves) return continue_on_dirty(p);
    if (!pid) options.failure = atoms::system_limit;
  }
  const Term id = request_id(p, options, request.key);
  if (!pid && options.reply_error) {
    const Term failure = new_tuple(p.heap, options.tag, id, atoms::error, options.failure);
    send_from_vm(p.id, failure);
  }
  return id;
}

/// spawn_request and spawn_monitor check the arity before they start a process; others do not.
bool is_callable(Term fun) { return fun.is_fun() && fun_of(fun)->arity == 0; }

Term request_fun(Process& p, Term fun, Term options, Term node = local_node_name()) {
  return is_callable(fun) ? request(p, fun_call(p, fun), options, node) : raise_badarg(p);
}

}  // namespace

Term spawn_request_cause(Process&, unsigned arity, const Term* a) {
  const bool starts = arity < 4 ? a[arity - 2].is_fun() : list_length(a[arity - 2]) >= 0;
  return starts && list_length(a[arity - 1]) < 0 ? atoms::badopt : kNonValue;
}

Term spawn_opt_cause(Process&, unsigned arity, const Term* a) {
  SpawnOptions options = spawn_defaults;
  return read_spawn_options(a[arity - 1], &options) ? kNonValue : atoms::badopt;
}

Term bif_erlang_spawn_1(Process& p, const Term* a) { return start_fun(p, a[0], with(false, false)); }
Term bif_erlang_spawn_2(Process& p, const Term* a) { return start_fun_on(p, a[0], a[1], with(false, false)); }
Term bif_erlang_spawn_3(Process& p, const Term* a) {
  return start(p, {a[0], a[1], a[2]}, with(false, false));
}
/// Nothing restarts the system here, so such a process needs no special treatment.
Term bif_erts_internal_spawn_system_process_3(Process& p, const Term* a) {
  return start(p, {a[0], a[1], a[2]}, with(false, false));
}
Term bif_erlang_spawn_4(Process& p, const Term* a) {
  return start_on(p, a[0], {a[1], a[2], a[3]}, with(false, false));
}
Term bif_erlang_spawn_link_1(Process& p, const Term* a) { return start_fun(p, a[0], with(true, false)); }
Term bif_erlang_spawn_link_2(Process& p, const Term* a) {
  return start_fun_on(p, a[0], a[1], with(true, false));
}
Term bif_erlang_spawn_link_3(Process& p, const Term* a) {
  return start(p, {a[0], a[1], a[2]}, with(true, false));
}
Term bif_erlang_spawn_link_4(Process& p, const Term* a) {
  return start_on(p, a[0], {a[1], a[2], a[3]}, with(true, false));
}
Term bif_erlang_spawn_monitor_1(Process& p, const Term* a) {
  return is_callable(a[0]) ? start_fun(p, a[0], with(false, true)) : raise_badarg(p);
}
Term bif_erlang_spawn_monitor_2(Process& p, const Term* a) {
  return is_callable(a[1]) ? start_fun_on(p, a[0], a[1], with(false, true)) : raise_badarg(p);
}
Term bif_erlang_spawn_monitor_3(Process& p, const Term* a) {
  return start(p, {a[0], a[1], a[2]}, with(false, true));
}
Term bif_erlang_spawn_monitor_4(Process& p, const Term* a) {
  return start_on(p, a[0], {a[1], a[2], a[3]}, with(false, true));
}
Term bif_erlang_spawn_opt_2(Process& p, const Term* a) {
  return a[0].is_fun() ? start_options(p, fun_call(p, a[0]), a[1]) : raise_badarg(p);
}
Term bif_erlang_spawn_opt_3(Process& p, const Term* a) {
  return a[1].is_fun() ? start_options(p, fun_call(p, a[1]), a[2], a[0]) : raise_badarg(p);
}
Term bif_erlang_spawn_opt_4(Process& p, const Term* a) { return start_options(p, {a[0], a[1], a[2]}, a[3]); }
Term bif_erlang_spawn_opt_5(Process& p, const Term* a) {
  return start_options(p, {a[1], a[2], a[3]}, a[4], a[0]);
}

Term bif_erlang_spawn_request_1(Process& p, const Term* a) { return request_fun(p, a[0], Term::nil()); }
Term bif_erlang_spawn_request_2(Process& p, const Term* a) {
  return a[0].is_fun() ? request_fun(p, a[0], a[1]) : request_fun(p, a[1], Term::nil(), a[0]);
}
Term bif_erlang_spawn_request_3(Process& p, const Term* a) {
  return a[1].is_fun() ? request_fun(p, a[1], a[2], a[0]) : request(p, {a[0], a[1], a[2]}, Term::nil());
}
Term bif_erlang_spawn_request_4(Process& p, const Term* a) {
  return a[2].is_atom() ? request(p, {a[1], a[2], a[3]}, Term::nil(), a[0])
                        : request(p, {a[0], a[1], a[2]}, a[3]);
}
Term bif_erlang_spawn_request_5(Process& p, const Term* a) {
  return request(p, {a[1], a[2], a[3]}, a[4], a[0]);
}
Term bif_erlang_spawn_request_abandon_1(Process& p, const Term* a) {
  // The answer of a request to this node is sent before spawn_request returns.
  if (!a[0].is_ref()) return raise_badarg(p);
  FlatTable<RefKey, SpawnRequested>::Entry asked;
  if (!a[0].is_local_ref() || !p.extra || !p.extra->spawn_requests.take(ref_key(a[0]), &asked))
    return atoms::false_;
  abandon_spawn(asked.key, atoms::abandoned);
  if (asked.value.alias != AliasMode::kNone) p.extra->aliases.erase(asked.key);
  if (asked.value.priority_monitor) (void)unmark_priority_monitor(p, asked.key);
  asked.value.drop_tag();
  asked.value.drop_monitor_tag();
  return atoms::true_;
}

/// Node, {Module, Function, Arguments}, Options, spawn_request | spawn_opt: returns the reference;
/// for spawn_opt also whether it is that of a monitor.
Term bif_erts_internal_dist_spawn_request_4(Process& p, const Term* a) {
  if (came_back(p)) return continue_on_dirty(p);
  if (!a[0].is_atom() || !a[1].is_tuple() || a[1].tuple_arity() != 3) return atoms::badarg;
  const SpawnedCall call{a[1].element(0), a[1].element(1), a[1].element(2)};
  RequestOptions options;
  if (!call.module.is_atom() || !call.function.is_atom() || list_length(call.arguments) < 0 ||
      !read_request_options(p, a[2], &options))
    return atoms::badarg;
  const Term id = request_remote(p, a[0], call, options);
  if (!id) return continue_on_dirty(p);
  return a[3] == atoms::spawn_request ? id : new_tuple(p.heap, id, bool_term(options.spawn.monitor));
}

/// Node, {Module, Function, Arguments}, Options, Reason: starts the process that replaces one that
/// could not be started.
Term bif_erts_internal_spawn_unreachable_4(Process& p, const Term* a) {
  SpawnOptions options = spawn_defaults;
  if (!a[1].is_tuple() || a[1].tuple_arity() != 3 || !read_spawn_options(a[2], &options))
    return raise_badarg(p);
  options.as_given = a[2];
  return start_unreachable(p, a[0], {a[1].element(0), a[1].element(1), a[1].element(2)}, options, a[3]);
}

}  // namespace vmrun
