// SPDX-License-Identifier: Apache-2.0
#include "runtime/bif/iolist.hpp"
#include "runtime/bif/support.hpp"
#include "vm/base/release.hpp"
#include "vm/dist/channels.hpp"
#include "vm/dist/controller_port.hpp"
#include "vm/dist/controller_process.hpp"
#include "vm/dist/node_events.hpp"
#include "vm/heap/copy.hpp"
#include "vm/message/send.hpp"
#include "vm/port/driver.hpp"
#include "vm/port/operation.hpp"
#include "vm/process/registry.hpp"
#include "vm/process/report.hpp"
#include "vm/term/big.hpp"
#include "vm/term/bits.hpp"

/// The built-in functions that net_kernel and the carriers of connections need.
namespace vmrun {
namespace {

using namespace dist;

// ---- This node's name ---------------------------------------------------------------------------

bool is_node_name(Term t) {
  if (!t.is_atom() || t == atoms::nonode_at_nohost) return false;
  const std::string_view text = atom_text(t);
  const std::size_t at = text.find('@');
  return at != 0 && at != std::string_view::npos && at + 1 < text.size() &&
         text.find('@', at + 1) == std::string_view::npos;
}

bool read_unsigned(Term t, Word* out) {
  if (t.is_small() && t.small_value() >= 0) return *out = static_cast<Word>(t.small_value()), true;
  if (!t.is_boxed_sub(Term::Sub::kPosBig) || t.boxed_ptr()->header_arity() != 1) return false;
  *out = reinterpret_cast<const BigObject*>(t.boxed_ptr())->limbs[0];
  return true;
}

bool is_other_node(Term name) { return is_node_name(name) && name != local_node_name(); }

}  // namespace

Term bif_erlang_setnode_2(Process& p, const Term* a) {
  Word creation;
  const Term kernel = whereis(atoms::net_kernel);
  if (!is_node_name(a[0]) || !read_unsigned(a[1], &creation) || creation == 0 || creation > UINT32_MAX ||
      !kernel || !kernel.is_local_pid() || !come_alive(a[0], static_cast<std::uint32_t>(creation), kernel))
    return raise_badarg(p);
  return atoms::true_;
}

Term bif_erts_internal_get_dflags_0(Process& p, const Term*) {
  const auto flags = [&](unsigned meaning) {
    const Flags removed = removed_flags.load(std::memory_order_relaxed);
    return make_unsigned(p.heap, flags_that_are(meaning, release_number) & ~removed);
  };
  return new_tuple(p.heap, intern_atom("erts_dflags"), flags(kOurs), flags(kMandatory), flags(kOurs),
                   flags(kRejectable), flags(kStrictOrder));
}

Term bif_erts_internal_get_creation_0(Process& p, const Term*) {
  return is_alive() ? make_unsigned(p.heap, local_node_creation()) : atoms::undefined;
}

// ---- Connections --------------------------------------------------------------------------------

namespace {

Term handle(Process& p, const Channel& channel, Word connection) {
  Term* hp = p.heap.alloc(kHandleWords);
  return make_handle(hp, channel, connection);
}

/// Sends {dist_ctrlr, Controller, Node, Self} to net_kernel.
void announce_controller(const Process& p, Term controller, Term node) {
  const Term kernel = whereis(atoms::net_kernel);
  if (!kernel) return;
  Fragment* f = new_fragment(5);
  Term* hp = fragment_alloc(*f, 5);
  f->message = make_tuple(hp, atoms::dist_ctrlr, controller, node, p.id);
  (void)send_from_vm(kernel, f);
}

/// Returns false when no connection is pending.
bool come_up(const Process& p, const std::shared_ptr<Connection>& connection) {
  Channel& channel = connection->channel;
  if (!channel.connected(connection, connection->flags)) return false;
  announce_controller(p, connection->controller, channel.name);
  tell_node_event({.node = channel.name,
                   .up = true,
                   .visible = connection->is_visible(),
                   .connection = connection->number,
                   .reason = Term::nil()});
  return true;
}

/// The controller has agreed in its own thread that its connections end with it. If it has ended
/// since then, no other code would end this connection, so it is done here.
Term create_by_process(Process& p, Channel& channel, Flags flags, std::uint32_t creation, Term controller) {
  const auto connection = std::make_shared<ProcessConnection>(channel, controller, flags);
  connection->creation = creation;
  if (!come_up(p, connection)) return raise_badarg(p);
  if (receiver_of(controller).is_there(controller)) return handle(p, channel, connection->number);
  if (const auto down = channel.lose(connection->number, atoms::noproc))
    while (!down->tell(1000)) {}
  return raise_badarg(p);
}

/// A busy driver must continue to accept output that has been started.
bool can_carry(const Port& port) {
  return port.soft_busy && port.output_callback != Port::OutputCallback::kNone;
}

Term create_by_port(Process& p, Channel& channel, Flags flags, std::uint32_t creation, Term id) {
  Port* port = port_table.find_open(id);
  if (!port || !can_carry(*port)) return raise_badarg(p);
  return operate_on(p, *port, AllowedStates::kOpen, kNonValue,
                    [&p, &channel, flags, creation](Port& held, Heap& heap, Term) -> Outcome {
                      auto connection = std::make_shared<PortConnection>(channel, held.id, flags);
                      connection->creation = creation;
                      if (held.peer || !come_up(p, connection)) return failure(atoms::badarg);
                      PortConnection::attach(held, connection);
                      Term* hp = heap.alloc(kHandleWords);
                      return {make_handle(hp, channel, connection->number)};
                    });
}

bool can_all_that_must(Process& p, Term node, Flags flags) {
  if (!(flags_that_are(kMandatory, release_number) & ~flags)) return true;
  report_error(pid_text(p.id) + " attempted to enable connection to node " + term_text(node) +
               " which does not support all mandatory capabilities.\n");
  return false;
}

/// Returns the handle. Returns the non-value with an exception, or when the function is to be
/// called again.
Term create_channel(Process& p, Term node, Term controller, Term how) {
  if (controller == p.id) {
    extra_of(p).in_distribution = true;
  } else if (controller.is_local_pid()) {
    const Term answer = ask(p, controller, RequestKind::kControlConnection, Term::nil(), atoms::false_);
    if (answer != atoms::true_) return answer ? raise_badarg(p) : kNonValue;
  } else if (has_asked(p)) {
    return take_answer(p);
  }
  Word flags, creation;
  if (!is_alive() || !is_other_node(node) || !how.is_tuple() || how.tuple_arity() != 2 ||
      !read_unsigned(how.element(0), &flags) || !read_unsigned(how.element(1), &creation))
    return raise_badarg(p);
  // One flag stands for all that are mandatory in OTP 25.
  if (flags & flag::kMandatory25Digest) flags |= flags_that_are(kMandatory, 25);
  if (!can_all_that_must(p, node, flags)) return raise_badarg(p);
  Channel& channel = channel_to(node);
  const auto of_node = static_cast<std::uint32_t>(creation);
  if (controller.is_local_pid()) return create_by_process(p, channel, flags, of_node, controller);
  return controller.is_local_port() ? create_by_port(p, channel, flags, of_node, controller)
                                    : raise_badarg(p);
}

}  // namespace

Term bif_erlang_setnode_3(Process& p, const Term* a) { return create_channel(p, a[0], a[1], a[2]); }

Term bif_erts_internal_create_dist_channel_3(Process& p, const Term* a) {
  const Term made = create_channel(p, a[0], a[1], a[2]);
  if (made) return new_tuple(p.heap, atoms::ok, made);
  return p.bif_action == BifAction::kRaise && p.exception_value == atoms::badarg ? atoms::badarg : kNonValue;
}

Term bif_erts_internal_new_connection_1(Process& p, const Term* a) {
  if (!is_other_node(a[0])) return raise_badarg(p);
  const Route route = channel_to(a[0]).begin_connecting();
  return route ? handle(p, *route.channel, route.connection) : yield_and_retry(p);
}

Term bif_erts_internal_abort_pending_connection_2(Process& p, const Term* a) {
  Word connection;
  Channel* channel = find_channel(a[1], &connection);
  if (!channel || channel->name != a[0]) return raise_badarg(p);
  if (const auto down = channel->abort(connection)) {
    while (!down->tell(1000)) {}
    return atoms::true_;
  }
  const Route now = channel->route();
  return bool_term(now.connection != connection);
}

// ---- Controllers that are processes -------------------------------------------------------------

namespace {

/// Returns the connection of the handle, if it is up.
std::shared_ptr<Connection> connection_of(Term handle) {
  Word number;
  Channel* channel = find_channel(handle, &number);
  if (!channel) return nullptr;
  std::shared_ptr<Connection> found = channel->connection();
  return found && found->number == number ? found : nullptr;
}

/// Whether it is net_kernel or controls a connection.
bool has_to_do_with_nodes(const Process& p) {
  bool controls = whereis(atoms::net_kernel) == p.id;
  for_each_channel([&](Channel& channel) {
    const std::shared_ptr<Connection> c = channel.connection();
    controls |= c && c->controller == p.id;
  });
  return controls;
}

/// Returns the connection of the handle if `p` controls it, or is its input handler. A process that
/// is not the input handler gets badarg if it names no handle, and otherwise notsup. A process that
/// is not the controller gets badarg if it has to do with nodes; notsup if it has not, or if a port
/// carries the connection.
std::shared_ptr<ProcessConnection> process_connection(Process& p, Term handle, bool by_input_handler) {
  Word number;
  const bool is_handle = find_channel(handle, &number);
  const std::shared_ptr<Connection> any = is_handle ? connection_of(handle) : nullptr;
  const bool by_process = any && any->controller.is_local_pid();
  if (by_process) {
    auto found = std::static_pointer_cast<ProcessConnection>(any);
    if (p.id == (by_input_handler ? found->input_handler() : found->controller)) return found;
  }
  const bool wrong = by_input_handler ? !is_handle : (by_process || !is_handle) && has_to_do_with_nodes(p);
  raise_error(p, wrong ? atoms::badarg : atoms::notsup);
  return nullptr;
}

}  // namespace

Term bif_erlang_dist_ctrl_input_handler_2(Process& p, const Term* a) {
  const auto connection = process_connection(p, a[0], false);
  if (!connection) return kNonValue;
  if (!a[1].is_local_pid()) return raise_badarg(p);
  connection->set_input_handler(a[1]);
  return atoms::ok;
}

Term bif_erlang_dist_ctrl_put_data_2(Process& p, const Term* a) {
  if (came_back(p)) return continue_on_dirty(p);
  const auto connection = process_connection(p, a[0], true);
  if (!connection) return kNonValue;
  ReductionBudget steps;
  const Term packet = a[1].is_bitstring() ? a[1] : iodata_to_bitstring(p.heap, a[1], true, steps);
  if (!packet) return steps.used_up() ? continue_on_dirty(p) : raise_badarg(p);
  if (bit_size_of(packet) & 7) return raise_badarg(p);
  const BytesOf bytes(packet);
  charge(p, static_cast<SWord>(bytes.size() / kBytesPerStep));
  // A packet without a byte is a tick.
  if (!connection->put_data(bytes.data(), bytes.size(), nullptr)) connection->end(atoms::kill);
  // A process that sends as well must not wait here.
  if (connection->channel.owes_much() && p.id != connection->controller)
    connection->channel.make_wait(p, connection->route(), dist::waits_in_other_signal());
  return atoms::ok;
}

Term bif_erlang_dist_ctrl_get_data_1(Process& p, const Term* a) {
  const auto connection = process_connection(p, a[0], false);
  if (!connection) return kNonValue;
  Packet packet;
  if (!connection->get_data(&packet)) return atoms::none;
  ListBuilder parts(p.heap);
  for (BinaryPart& part : packet.parts)
    parts.add(part.size() > kHeapBinaryMaxBytes
                  ? make_refc_binary(p.heap, part.take_reference(), const_cast<std::uint8_t*>(part.data()),
                                     part.size())
                  : make_binary(p.heap, part.data(), part.size()));
  const Term data = parts.finish();
  if (!connection->with_size.load(std::memory_order_relaxed)) return data;
  return new_tuple(p.heap, make_unsigned(p.heap, packet.bytes), data);
}

Term bif_erlang_dist_ctrl_get_data_notification_1(Process& p, const Term* a) {
  const auto connection = process_connection(p, a[0], false);
  if (!connection) return kNonValue;
  connection->notify_of_data();
  return atoms::ok;
}

Term bif_erlang_dist_ctrl_set_opt_3(Process& p, const Term* a) {
  const auto connection = process_connection(p, a[0], false);
  if (!connection) return kNonValue;
  if (a[1] != atoms::get_size || (a[2] != atoms::true_ && a[2] != atoms::false_)) return raise_badarg(p);
  return bool_term(connection->with_size.exchange(a[2] == atoms::true_, std::memory_order_relaxed));
}
Term bif_erlang_dist_ctrl_get_opt_2(Process& p, const Term* a) {
  const auto connection = process_connection(p, a[0], false);
  if (!connection) return kNonValue;
  if (a[1] != atoms::get_size) return raise_badarg(p);
  return bool_term(connection->with_size.load(std::memory_order_relaxed));
}

Term bif_erlang_dist_get_stat_1(Process& p, const Term* a) {
  Word number;
  Channel* channel = find_channel(a[0], &number);
  if (!channel) return raise_badarg(p);
  const std::shared_ptr<Connection> c = connection_of(a[0]);
  const auto count = [&](Word n) { return make_unsigned(p.heap, n); };
  return new_tuple(p.heap, atoms::ok, count(c ? c->packets_in.load(std::memory_order_relaxed) : 0),
                   count(c ? c->packets_out.load(std::memory_order_relaxed) : 0),
                   count(c && channel->queued_bytes() ? 1 : 0));
}

Term bif_net_kernel_dflag_unicode_io_1(Process& p, const Term* a) {
  if (!a[0].is_pid()) return raise_badarg(p);
  if (a[0].is_local_pid()) return atoms::true_;
  const Route route = channel_of(a[0]).route();
  return bool_term(route.flags & flag::kUnicodeIo);
}

}  // namespace vmrun
