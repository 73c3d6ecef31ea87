// SPDX-License-Identifier: Apache-2.0
#include "probes/attach/consumer_connection.hpp"

#include <algorithm>
#include <utility>

#include "probes/attach/firing.hpp"
#include "probes/attach/machine_host.hpp"
#include "probes/attach/own_totals.hpp"
#include "probes/engine/program_verifier.hpp"
#include "probes/engine/ring.hpp"
#include "probes/probes.hpp"
#include "vm/term/atom.hpp"
#include "vm/term/node.hpp"

namespace vmrun::attach {

using d::Message;

namespace {

constexpr std::size_t kLongestAnswer = 1 << 20;                    // of what can be asked for in parts
static_assert(d::Bounds::kAggregatedBytes <= d::kLongestMessage);  // they are sent in one message
// The most bytes kept for a consumer that asks and does not read the answers.
constexpr std::size_t kMostWaiting = d::kLongestMessage + (1 << 20);

}  // namespace

bool Connection::serve() {
  const bool there = channel_.fill();
  for (d::Channel::Received received; channel_.take(received);) {
    handle(received);
    if (channel_.waiting_bytes() > kMostWaiting) return false;
  }
  return channel_.flush() && there;
}

void Connection::handle(const d::Channel::Received& received) {
  switch (received.message) {
    case Message::kHello:
      if (const auto why = d::refusal(d::Unpacker(received.body).u32(), probe::kCompiledIn); why.empty())
        channel_.send(Message::kProbes, d::pack_probes(machine_host().probes()));
      else channel_.send(Message::kRefused, d::Packer().text(why).bytes);
      break;
    case Message::kProgram: open(received.body); break;
    case Message::kGo: go(); break;
    case Message::kAggregations: {
      std::vector<std::uint32_t> clear;
      for (d::Unpacker in(received.body); !in.at_end() && in.ok();) clear.push_back(in.u32());
      std::ranges::sort(clear);
      clear.erase(std::ranges::unique(clear).begin(), clear.end());
      channel_.send(Message::kAggregations,
                    d::pack_elements(tracing_ ? session().aggregations(clear) : std::vector<d::Element>()));
      break;
    }
    case Message::kAtoms:
      answer_names(received.body, [](std::uint64_t n) { return machine_host().atom_name(n); });
      break;
    case Message::kAddresses:
      answer_names(received.body, [](std::uint64_t n) { return machine_host().address_name(n); });
      break;
    case Message::kFunctionNames: answer_names(received.body, function_text); break;
    case Message::kNode:
      channel_.send(Message::kNames, d::pack_names({std::string(atom_text(local_node_name()))}));
      break;
    case Message::kFunctions: answer_functions(received.body); break;
    case Message::kAtomsFrom: answer_atoms(d::Unpacker(received.body).u32()); break;
    case Message::kDrops: {
      if (tracing_) tell_rings();  // comes first, because rings report their own drops
      d::Packer counts;
      for (unsigned k = 0; k < static_cast<unsigned>(d::Drop::kCount); ++k)
        counts.u64(tracing_ ? session().drops(static_cast<d::Drop>(k)) : 0);
      channel_.send(Message::kDrops, counts.bytes);
      break;
    }
    case Message::kFirings: channel_.send(Message::kFirings, d::Packer().u64(firings()).bytes); break;
    case Message::kTotals: channel_.send(Message::kTotals, d::pack_totals(machine_totals())); break;
    case Message::kStop: end(); break;
    default: channel_.send(Message::kRefused, d::Packer().text("no such message").bytes);
  }
}

void Connection::open(const std::string& bytes) {
  d::Program program;
  std::string why;
  if (tracing_) why = "a connection has one script";
  else if (d::from_bytes(bytes, program, why)) tracing_ = TracingSession::open(std::move(program), why);
  if (tracing_ && why.empty()) channel_.send(Message::kReady);
  else channel_.send(Message::kRefused, d::Packer().text(why.empty() ? "refused" : why).bytes);
}

void Connection::go() {
  const bool again = std::exchange(gone_, true);
  if (!tracing_ || again) return;
  tracing_->go();
  tell_rings();
  tell_exit();
}

// A ring may come later than one with a higher number. So every ring that still has its descriptor
// has not been reported yet.
void Connection::tell_rings() {
  for (d::Ring* ring : session().rings())
    if (const int descriptor = ring->give_descriptor(); descriptor >= 0)
      channel_.send(Message::kRing,
                    d::Packer().u32(ring->number()).u32(ring->number()).u64(ring->capacity_bytes()).bytes,
                    descriptor);
}

void Connection::tell_exit() {
  int status = 0;
  if (reported_exit_ || !session().exiting(status)) return;
  reported_exit_ = true;
  channel_.send(Message::kExit, d::Packer().u32(static_cast<std::uint32_t>(status)).bytes);
}

void Connection::tick() {
  if (!runs()) return;
  tracing_->tick();
  tell_rings();
  tell_exit();
}

void Connection::end() {
  gone_ = true;
  if (runs()) {
    tracing_->end();
    tell_rings();
    tell_exit();
  }
  channel_.send(Message::kStopped);
}

void Connection::answer_names(const std::string& body,
                              const std::function<std::string(std::uint64_t)>& name) {
  if (body.size() > d::kMostNames * sizeof(std::uint64_t)) {
    channel_.send(Message::kRefused, d::Packer().text("too many names at once").bytes);
    return;
  }
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
