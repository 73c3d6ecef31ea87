// SPDX-License-Identifier: Apache-2.0
#include "vm/port/operations.hpp"

#include <string>

#include "vm/base/epoch.hpp"
#include "vm/heap/build.hpp"
#include "vm/heap/copy.hpp"
#include "vm/message/links.hpp"
#include "vm/port/callbacks.hpp"
#include "vm/port/driver.hpp"
#include "vm/port/driver_api.hpp"
#include "vm/port/operation.hpp"
#include "vm/port/output.hpp"
#include "vm/port/task.hpp"
#include "vm/probes/fire.hpp"
#include "vm/process/bif.hpp"
#include "vm/process/process_state.hpp"
#include "vm/process/process_table.hpp"
#include "vm/sched/scheduler.hpp"
#include "vm/term/bits.hpp"
#include "vm/term/external.hpp"
#include "vm/term/iodata.hpp"
#include "vm/trace/seq_trace.hpp"
#include "vm/trace/system_profile.hpp"
#include "vm/trace/trace.hpp"
#include "vm/trace/tracer.hpp"

namespace vmrun {

ReportedOperation::ReportedOperation(Process& p, Port& port, Term name)
    : process_(p), port_(port), name_(name) {
  trace_running(p, false, kTraceRunningProcs);
  if (port.tracing.is_on(kPortProfiledExclusive)) profile_process(p, false);
  trace_port_running(port.tracing, port.id, true, name);
}
ReportedOperation::~ReportedOperation() {
  // For a port that is gone `out` is not reported, as in OTP.
  if (port_.state.load(std::memory_order_relaxed) != Port::State::kClosed)
    trace_port_running(port_.tracing, port_.id, false, name_);
  trace_running(process_, true, kTraceRunningProcs);
  if (port_.tracing.is_on(kPortProfiledExclusive)) profile_process(process_, true);
}

namespace {

constexpr std::size_t kControlRoom = 64, kCallRoom = 1024;

// ---- Commands -----------------------------------------------------------------------------------

struct CommandTask final : PortTask {
  /// owner: the process that a message names as the port's owner; the non-value for port_command,
  /// which any process may call.
  CommandTask(Term from, Term owner, PortOutput&& output)
      : PortTask(from), owner(owner), output(std::move(output)) {}
  void run(Port& p) override;
  Term owner;
  PortOutput output;
};

/// Handles a message that is not valid for a port, or that does not name its owner. The owner gets
/// an exit signal, as in OTP, whatever process has sent it.
void bad_signal(const Port& port) {
  const Term owner = port.owner_now();
  receiver_of(owner).exit(owner, {.from = port.id, .reason = atoms::badsig, .fires_probe = false});
}

void give(Port& p, Term from, Term owner, PortOutput& output) {
  if (!p.is_open()) return;
  if (owner && owner != p.owner_now()) return bad_signal(p);
  output.give_to(p, from);
}
void CommandTask::run(Port& p) { give(p, from, owner, output); }

void fire_command(Term sender, const Port& port, const char* type) {
  if (probe::port_command_enabled()) [[unlikely]]
    probe::fire_port_command(sender, port.id, port.name.c_str(), type);
}

bool must_wait(const Port& port) {
  return port.busy.load(std::memory_order_acquire) || port.inbox_full.load(std::memory_order_acquire);
}

void queue_command(Term from, Port& port, Term owner, PortOutput&& output,
                   WhenBusy when_busy = WhenBusy::kInOrder) {
  auto* task = new CommandTask(from, owner, std::move(output));
  task->when_busy = when_busy;
  task->bytes = task->output.size();
  // The flag is set before the task can run, since the thread that runs it clears the flag. (A task
  // without bytes clears nothing, so it must not set the flag.)
  const Word queued = port.queued_bytes.fetch_add(task->bytes, std::memory_order_relaxed) + task->bytes;
  const Word high = port.inbox_high.load(std::memory_order_relaxed);
  if (task->bytes && high && queued > high) set_inbox_full(port, true);
  queue_task(port, task);
}

void count_command(Process& p, const PortOutput& output) {
  bump_reductions(p, kCallbackReductions + static_cast<SWord>(output.size() / 64));
}

enum class Command : bool { kUsual, kForced /* on a port that is busy */ };

template <Command kCommand = Command::kUsual>
[[gnu::no_stack_protector]] void hand_over_command(Process& p, Port& port, Term owner, PortOutput& output) {
  constexpr WhenBusy kWhenBusy = kCommand == Command::kForced ? WhenBusy::kInOrder : WhenBusy::kWaits;
  count_command(p, output);
  if (!try_hold_port(port)) return queue_command(p.id, port, owner, std::move(output), kWhenBusy);
  run_at_once(p, port, atoms::command, [&] { give(port, p.id, owner, output); });
  finish_closing(port);
  release_port(port);
}

/// Returns false when these are not data. A driver without output callbacks gets data too: they are
/// lost.
bool gather_output(const Port& port, Term data, PortOutput* output) {
  return output->gather(data, port.output_callback == Port::OutputCallback::kOutputv);
}

// ---- Messages to ports --------------------------------------------------------------------------

/// Gives the process a link to the port, or sends it a link signal from the port. In the process's
/// own thread this happens at once.
void link_process(Term pid, Term port, std::uint32_t setting) {
  Scheduler* s = this_scheduler();
  if (s && s->current && s->current->id == pid) {
    trace_procs(*s->current, atoms::getting_linked, port);
    extra_of(*s->current).links.set_by_other(port, setting);
    return;
  }
  if (receiver_of(pid).link(pid, port, setting) != Reached::kYes) link_failed(port, pid);
}

/// Links the port to a process unless they are linked already.
void link_to(Port& p, Term pid) {
  const std::uint32_t setting = p.links.set(pid);
  if (!setting) return;
  link_process(pid, p.id, setting);
  trace_port(p.tracing, p.id, atoms::getting_linked, pid);
}

/// Reports {From, What} or {From, {What, Argument}} to the port's tracer.
void trace_receive(Port& p, Term from, Term what, Term argument = kNonValue) {
  if (p.tracing.is_on(kTraceReceive)) [[unlikely]]
    tell_port_receive(p.tracing, p.id, from, what, argument);
}

struct CloseMessageTask final : PortTask {
  CloseMessageTask(Term from, Term owner) : PortTask(from), owner(owner) {}
  void run(Port& p) override {
    if (!p.is_open()) return;
    if (owner != p.owner_now()) return bad_signal(p);
    trace_receive(p, from, atoms::close);
    p.notify_closed = true;
    close_port(p, owner, atoms::normal);
    fire_command(owner, p, "close");
  }
  Term owner;
};

struct ConnectMessageTask final : PortTask {
  ConnectMessageTask(Term from, Term owner, Term new_owner)
      : PortTask(from), owner(owner), new_owner(new_owner) {}
  void run(Port& p) override {
    if (!p.is_open()) return;
    if (owner != p.owner_now() || !process_table.find(new_owner)) return bad_signal(p);
    trace_receive(p, owner, atoms::connect, new_owner);
    p.owner.store(new_owner.raw(), std::memory_order_relaxed);  // only the function makes a link
    send_news(p, owner, atoms::connected);
    fire_command(owner, p, "connect");
  }
  Term owner, new_owner;
};

/// Reports a message to a port to tracing. A port has no token, but the sender's counters change.
void trace_message(Process& p, const Port& port, Term message) {
  trace_send(p, port.id, message);
  seq_trace_port_send(p, port.id, message);
}

SendResult send_command(Process& p, Port& port, Term owner, Term data, Term message, bool nosuspend) {
  if (must_wait(port)) {
    if (nosuspend) return SendResult::kBusy;
    if (wait_until_not_busy(port, p)) {
      suspend_while_busy(p);
      return SendResult::kWaits;
    }
  }
  trace_message(p, port, message);
  fire_command(p.id, port, "command");
  PortOutput output;
  if (gather_output(port, data, &output)) hand_over_command(p, port, owner, output);
  else bad_signal(port);
  return SendResult::kDone;
}

// ---- control and call ---------------------------------------------------------------------------

[[gnu::always_inline]] inline Term byte_list(Heap& heap, const char* bytes, std::size_t size) {
  Term* hp = heap.alloc(2 * size);
  Term list = Term::nil();
  for (std::size_t i = size; i-- > 0;)
    list = make_cons(hp, Term::small(static_cast<std::uint8_t>(bytes[i])), list);
  return list;
}

/// Makes the result of what control has left in `answer`: it lies in `room`, or in memory of its
/// own, which is freed.
[[gnu::always_inline]] inline Term control_result(Port& p, Heap& heap, char* answer, const char* room,
                                                  std::size_t size) {
  if (!p.control_binary) {
    const Term list = byte_list(heap, answer, size);
    if (answer != room) driver_free(answer);
    return list;
  }
  if (answer == room) return make_binary(heap, room, size);
  if (!answer) return Term::nil();
  Binary* binary = binary_of(reinterpret_cast<ErlDrvBinary*>(answer));
  const Word used = binary->used_bytes;
  if (used > kHeapBinaryMaxBytes) return make_refc_binary(heap, binary, binary->data, used);
  const Term copy = make_binary(heap, binary->data, used);
  binary->release();
  return copy;
}

template <bool kTold>
[[gnu::always_inline]] inline Outcome control(Port& port, Heap& heap, Term caller, unsigned command,
                                              std::string& data) {
  if (!port.driver->entry->control) return failure(atoms::badarg);
  if (kTold && port.tracing.is_on(kTraceReceive))
    tell_port_receive(port.tracing, port.id, caller, atoms::control, command, data.data(), data.size());
  char room[kControlRoom];
  char* answer = room;
  const ErlDrvSSizeT size =
      call_control(port, caller, command, data.data(), data.size(), &answer, sizeof room);
  if (size < 0) return failure(atoms::badarg);
  if (kTold && port.tracing.is_on(kTraceSend))
    tell_port_answer(port.tracing, port.id, caller, atoms::control, answer, static_cast<std::size_t>(size));
  return {control_result(port, heap, answer, room, static_cast<std::size_t>(size))};
}
[[gnu::cold, gnu::noinline]] Outcome control_reported(Port& port, Heap& heap, Term caller, unsigned command,
                                                      std::string& data) {
  return control<true>(port, heap, caller, command, data);
}

Outcome do_control(Port& port, Heap& heap, Term caller, unsigned command, std::string& data) {
  if (port.tracing.is_on(kTraceReceive | kTraceSend)) [[unlikely]]
    return control_reported(port, heap, caller, command, data);
  return control<false>(port, heap, caller, command, data);
}

Outcome do_call(Port& port, Heap& heap, Term caller, unsigned command, std::string& data) {
  if (!port.driver->entry->call) return failure(atoms::badarg);
  if (port.tracing.is_on(kTraceReceive)) [[unlikely]]
    tell_port_receive(port.tracing, port.id, caller, atoms::call, command, data.data(), data.size());
  char room[kCallRoom];
  char* answer = room;
  unsigned flags = 0;
  const ErlDrvSSizeT size =
      call_call(port, caller, command, data.data(), data.size(), &answer, sizeof room, &flags);
  if (size <= 0 || !answer) return failure(atoms::badarg);
  if (port.tracing.is_on(kTraceSend)) [[unlikely]]
    tell_port_answer(port.tracing, port.id, caller, atoms::call, answer, static_cast<std::size_t>(size));
  const Decoded decoded =
      decode_external(heap, reinterpret_cast<const std::uint8_t*>(answer), static_cast<std::size_t>(size));
  if (answer != room && !(flags & DRIVER_CALL_KEEP_BUFFER)) driver_free(answer);
  return decoded.term ? Outcome{decoded.term} : failure(atoms::badarg);
}

bool iodata_bytes(Term data, std::string* out) {
  return walk_iodata(
      data, [&](std::uint8_t b) { *out += static_cast<char>(b); },
      [&](Term bits) {
        if (bit_size_of(bits) & 7) return false;
        const BytesOf bytes(bits);
        out->append(reinterpret_cast<const char*>(bytes.data()), bytes.size());
        return true;
      });
}

}  // namespace

SendResult send_to_port(Process& p, Term id, Term message, bool nosuspend) {
  bump_reductions(p, 4);
  Port* port = port_table.find_open(id);
  if (!port) return SendResult::kDone;
  if (message.is_tuple() && message.tuple_arity() == 2 && message.element(0).is_local_pid()) {
    const Term owner = message.element(0), what = message.element(1);
    if (what == atoms::close) {
      trace_message(p, *port, message);
      run_or_queue(*port, new CloseMessageTask(p.id, owner), atoms::close);
      return SendResult::kDone;
    }
    if (what.is_tuple() && what.tuple_arity() == 2) {
      if (what.element(0) == atoms::command)
        return send_command(p, *port, owner, what.element(1), message, nosuspend);
      if (what.element(0) == atoms::connect && what.element(1).is_local_pid()) {
        trace_message(p, *port, message);
        run_or_queue(*port, new ConnectMessageTask(p.id, owner, what.element(1)), atoms::connect);
        return SendResult::kDone;
      }
    }
  }
  trace_message(p, *port, message);
  bad_signal(*port);
  return SendResult::kDone;
}

namespace {

template <Command kCommand>
[[gnu::always_inline]] inline Term give_command(Process& p, Port& port, Term data) {
  fire_command(p.id, port, "command");
  PortOutput output;
  if (!gather_output(port, data, &output)) return raise_badarg(p);
  hand_over_command<kCommand>(p, port, kNonValue, output);
  return atoms::true_;
}
[[gnu::cold, gnu::noinline]] Term force_command(Process& p, Port& port, Term data) {
  return port.soft_busy ? give_command<Command::kForced>(p, port, data) : raise_error(p, atoms::notsup);
}

}  // namespace

Term command_port(Process& p, Port& port, Term data, bool force, bool nosuspend) {
  if (force) [[unlikely]]
    return force_command(p, port, data);
  if (must_wait(port)) {
    if (nosuspend) return atoms::false_;
    if (wait_until_not_busy(port, p)) return suspend_while_busy(p);
    if (!port.is_open()) return raise_badarg(p);
  }
  return give_command<Command::kUsual>(p, port, data);
}

bool queue_command_of(Process* p, Port& port, Term data) {
  const Term sender = p ? p->id : kNonValue;
  if (p) fire_command(sender, port, "command");
  PortOutput output;
  if (!gather_output(port, data, &output)) return false;
  if (p) count_command(*p, output);
  queue_command(sender, port, kNonValue, std::move(output));
  return true;
}

bool is_open_port(Term port) { return port_table.find_open(port) != nullptr; }
bool send_trace_event_to_port(Term port, const std::string& bytes) {
  const EpochGuard guard;
  Port* p = port_table.find_open(port);
  Arena arena;
  return p && queue_command_of(nullptr, *p, make_binary(arena, bytes.data(), bytes.size()));
}

namespace {

/// The function does not send this message, but OTP reports one.
void tell_of_connected(Port& p, Term to) {
  Arena arena;
  tell_port_send(p.tracing, p.id, to, new_tuple(arena, p.id, atoms::connected));
}

}  // namespace

Term close_port_of(Process& p, Port& port) {
  bump_reductions(p, kCallbackReductions);
  const auto close = [](Port& held, Heap&, Term caller) -> Outcome {
    trace_receive(held, caller, atoms::close);
    close_port(held, caller, atoms::normal);
    return {atoms::true_};
  };
  return operate_on(p, port, AllowedStates::kOpen, atoms::close, close);
}

Term connect_port(Process& p, Port& port, Term new_owner) {
  if (!new_owner.is_local_pid() || !process_table.find(new_owner)) return raise_badarg(p);
  const auto connect = [new_owner](Port& held, Heap&, Term caller) -> Outcome {
    if (probe::port_connect_enabled()) [[unlikely]]
      probe::fire_port_connect(held.owner_now(), held.id, held.name.c_str(), new_owner);
    link_to(held, new_owner);
    held.owner.store(new_owner.raw(), std::memory_order_relaxed);
    trace_receive(held, caller, atoms::connect, new_owner);
    if (held.tracing.is_on(kTraceSend)) [[unlikely]]
      tell_of_connected(held, caller);
    return {atoms::true_};
  };
  return operate_on(p, port, AllowedStates::kOpen, atoms::connect, connect);
}

[[gnu::no_stack_protector]] Term control_port(Process& p, Port& port, unsigned command, Term data) {
  std::string bytes;
  if (!iodata_bytes(data, &bytes)) return raise_badarg(p);
  bump_reductions(p, kCallbackReductions + static_cast<SWord>(bytes.size() / 64));
  return operate_on(p, port, AllowedStates::kOpen, atoms::control,
                    [command, bytes = std::move(bytes)](Port& held, Heap& heap, Term caller) mutable {
                      return do_control(held, heap, caller, command, bytes);
                    });
}

Term call_port(Process& p, Port& port, unsigned command, Term data) {
  std::string bytes = encode_external(data);
  if (bytes.empty()) return raise_system_limit(p);
  bump_reductions(p, kCallbackReductions + static_cast<SWord>(bytes.size() / 64));
  return operate_on(p, port, AllowedStates::kOpen, atoms::call,
                    [command, bytes = std::move(bytes)](Port& held, Heap& heap, Term caller) mutable {
                      return do_call(held, heap, caller, command, bytes);
                    });
}

Term set_port_data(Process& p, Port& port, Term data) {
  Fragment* f = nullptr;
  Term copy = data;
  if (!data.is_immed()) {
    f = new_fragment(copy_size_words(data, Literals::kCopied));
    copy = copy_into(*f, data, Literals::kCopied);
  }
  struct Owned {  // until it is stored
    explicit Owned(Fragment* f) : f(f) {}
    Owned(Owned&& other) noexcept : f(other.f) { other.f = nullptr; }
    ~Owned() {
      if (f) Fragment::destroy(f);
    }
    Fragment* f;
  };
  return operate_on(p, port, AllowedStates::kOpenOrClosing, kNonValue,
                    [copy, owned = Owned(f)](Port& held, Heap&, Term) mutable -> Outcome {
                      std::swap(held.data_fragment, owned.f);
                      held.data = copy;
                      return {atoms::true_};
                    });
}

Term get_port_data(Process& p, Port& port) {
  return operate_on(p, port, AllowedStates::kOpenOrClosing, kNonValue,
                    [](Port& held, Heap& heap, Term) -> Outcome { return {copy_to(heap, held.data)}; });
}

namespace {

struct NameTask final : PortTask {
  NameTask(Term event, Term name) : event(event), name(name) {}
  void run(Port& p) override { trace_port(p.tracing, p.id, event, name); }
  Term event, name;
};

}  // namespace

void trace_port_name(Term id, Term event, Term name) {
  Port* port = port_table.find(id);
  if (port && port->tracing.is_on(kTracePorts)) run_or_queue(*port, new NameTask(event, name));
}

Term trace_port_of(Process& p, Port& port, const SessionRef& session, bool on, std::uint32_t flags,
                   Tracer* tracer) {
  auto trace = [session, on, flags, tracer = KeptTracer(tracer)](Port& held, Heap&, Term) -> Outcome {
    return {bool_term(set_port_tracing(held.tracing, held.id, session, on, flags, tracer.get()))};
  };
  return operate_on(p, port, AllowedStates::kOpen, kNonValue, std::move(trace), {atoms::false_});
}

Term trace_info_of(Process& p, Port& port, Word session, Term item) {
  return operate_on(p, port, AllowedStates::kOpen, kNonValue,
                    [session, item](Port& held, Heap& heap, Term) -> Outcome {
                      return {port_trace_info(held.tracing, held.id, session, item, heap)};
                    },
                    {atoms::undefined});
}

namespace {

struct ForgetSessionsTask final : PortTask {
  ForgetSessionsTask() : PortTask(kNonValue) {}
  void run(Port& p) override { forget_ended_sessions(p.tracing); }
};

}  // namespace

void forget_ended_sessions_of_port(Term id) {
  if (Port* port = port_table.find(id)) run_or_queue(*port, new ForgetSessionsTask);
}

}  // namespace vmrun
