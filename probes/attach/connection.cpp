#include "probes/attach/connection.hpp"

#include <algorithm>

#include "probes/attach/firing.hpp"
#include "probes/attach/host.hpp"
#include "probes/engine/operations.hpp"
#include "probes/engine/ring.hpp"
#include "probes/inside.hpp"

namespace vmrun::attach {

using d::Message;

namespace {

/// Whether a probe that fires in the middle of a slice asks where the process is.
bool asks_for_places(const d::Program& program) {
  const auto asks = [](const d::Instruction& i) {
    switch (i.operation) {
      case d::Operation::kFstack:
      case d::Operation::kKeystack: return true;
      case d::Operation::kBuiltin:
      case d::Operation::kKeybuiltin:
      case d::Operation::kFbuiltin: return i.imm == static_cast<std::int32_t>(d::Builtin::kMfa);
      default: return false;
    }
  };
  return std::ranges::any_of(program.clauses, [&](const d::Clause& c) {
    const auto is_anywhere = [](const d::Enabled& e) {
      return e.probe < d::kFirstFunctionProbe && !fires_between_slices(e.probe);
    };
    return std::ranges::any_of(c.probes, is_anywhere) &&
           (std::ranges::any_of(c.body, asks) || std::ranges::any_of(c.predicate, asks));
  });
}

std::string function_text(std::uint64_t number) {
  const d::FunctionName f = machine_host().function_name(static_cast<std::uint32_t>(number));
  return std::string(f.module) + '\0' + std::string(f.function);
}

constexpr std::size_t kMostWaiting = 64 << 20;   // of who asks and does not read the answers
constexpr std::size_t kLongestAnswer = 1 << 20;  // of what can be asked for in parts

}  // namespace

Connection::~Connection() {
  if (!session_) return;
  stop_watching();
  remove_session(*session_);
  session_.reset();  // which lowers the probes
}

bool Connection::serve() {
  const bool there = channel_.fill();
  for (d::Channel::Received received; channel_.take(received);) handle(received);
  return channel_.flush() && there && channel_.waiting_bytes() < kMostWaiting;
}

void Connection::handle(const d::Channel::Received& received) {
  switch (received.message) {
    case Message::kHello:
      if (d::Unpacker(received.body).u32() == d::kWireVersion)
        channel_.send(Message::kProbes, d::pack_probes(machine_host().probes()));
      else channel_.send(Message::kRefused, d::Packer().text("it speaks another version").bytes);
      break;
    case Message::kProgram: open(received.body); break;
    case Message::kGo: go(); break;
    case Message::kAggregations: {
      std::vector<std::uint32_t> clear;
      for (d::Unpacker in(received.body); !in.at_end() && in.ok();) clear.push_back(in.u32());
      channel_.send(Message::kAggregations,
                    d::pack_elements(session_ ? session_->aggregations(clear) : std::vector<d::Element>()));
      break;
    }
    case Message::kAtoms:
      answer_names(received.body, [](std::uint64_t n) { return machine_host().atom_name(n); });
      break;
    case Message::kAddresses:
      answer_names(received.body, [](std::uint64_t n) { return machine_host().address_name(n); });
      break;
    case Message::kFunctionNames: answer_names(received.body, function_text); break;
    case Message::kFunctions: answer_functions(received.body); break;
    case Message::kAtomsFrom: answer_atoms(d::Unpacker(received.body).u32()); break;
    case Message::kDrops: {
      d::Packer counts;
      for (unsigned k = 0; k < static_cast<unsigned>(d::Drop::kCount); ++k)
        counts.u64(session_ ? session_->drops(static_cast<d::Drop>(k)) : 0);
      channel_.send(Message::kDrops, counts.bytes);
      break;
    }
    case Message::kFirings: channel_.send(Message::kFirings, d::Packer().u64(firings()).bytes); break;
    case Message::kStop: end(); break;
    default: channel_.send(Message::kRefused, d::Packer().text("no such message").bytes);
  }
}

void Connection::open(const std::string& bytes) {
  d::Program program;
  std::string why;
  if (session_) why = "a connection has one script";
  else if (d::from_bytes(bytes, program, why)) {
    uses_self_ = std::ranges::any_of(program.variables,
                                     [](const d::Variable& v) { return v.scope == d::Scope::kSelf; });
    uses_places_ = asks_for_places(program);
    session_ = d::Session::open(std::move(program), machine_host(), why);
  }
  if (session_ && why.empty()) channel_.send(Message::kReady);
  else channel_.send(Message::kRefused, d::Packer().text(why.empty() ? "refused" : why).bytes);
}

void Connection::go() {
  gone_ = true;
  if (!session_ || running_) return;
  running_ = true;
  if (uses_self_) tell_ends(true);
  // From its next slice on each process runs the instructions that store where it is.
  if (uses_places_) probe::raise_watch("calls");
  add_session(*session_);
  (void)session_->begin();
  tell_rings();
  tell_exit();
}

void Connection::stop_watching() {
  if (running_ && uses_places_) probe::lower_watch("calls");
  running_ = false;
}

void Connection::tell_rings() {
  const std::vector<d::Ring*> rings = session_->rings();
  for (; rings_told_ < rings.size(); ++rings_told_) {
    const d::Ring& ring = *rings[rings_told_];
    channel_.send(Message::kRing,
                  d::Packer().u32(ring.number()).u32(ring.number()).u64(ring.capacity_bytes()).bytes,
                  ring.descriptor());
  }
}

void Connection::tell_exit() {
  int status = 0;
  if (told_exit_ || !session_->exiting(status)) return;
  told_exit_ = true;
  channel_.send(Message::kExit, d::Packer().u32(static_cast<std::uint32_t>(status)).bytes);
}

std::uint64_t Connection::next_tick() { return running_ ? session_->next_tick() : 0; }

void Connection::tick() {
  if (!running_) return;
  session_->tick();
  tell_rings();
  tell_exit();
}

void Connection::end() {
  if (running_) {
    stop_watching();
    session_->end();
    remove_session(*session_);
    tell_rings();
    tell_exit();
  }
  channel_.send(Message::kStopped);
}

void Connection::answer_names(const std::string& body,
                              const std::function<std::string(std::uint64_t)>& name) {
  std::vector<std::string> names;
  for (d::Unpacker in(body); !in.at_end() && in.ok();) {
    names.push_back(name(in.u64()));
  }
  channel_.send(Message::kNames, d::pack_names(names));
}

void Connection::answer_atoms(std::uint32_t index) {
  d::Packer atoms;
  for (std::uint64_t number; (number = machine_host().atom_number(index)) != 0; ++index) {
    atoms.u64(number).text(machine_host().atom_name(number));
    if (atoms.bytes.size() > kLongestAnswer) break;
  }
  channel_.send(Message::kAtomsFrom, atoms.bytes);
}

void Connection::answer_functions(const std::string& body) {
  d::Unpacker in(body);
  d::FunctionPattern pattern;
  pattern.module = in.text();
  pattern.function = in.text();
  pattern.arity = static_cast<std::int32_t>(in.u32());
  channel_.send(Message::kFunctions, d::pack_functions(machine_host().functions(pattern, in.u32())));
}

}  // namespace vmrun::attach
