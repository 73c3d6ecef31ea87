// SPDX-License-Identifier: Apache-2.0
#include "probes/vmtrace/machine_target.hpp"

#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <iterator>
#include <numeric>

#include "probes/engine/trace_clock.hpp"

namespace vmrun::d {
MachineTarget::~MachineTarget() {
  channel_.reset();  // a machine that ends waits a moment for this
  if (child_ <= 0) return;
  if (!stopped_of_itself_) kill(child_, SIGKILL);  // dtrace too kills what it has started
  waitpid(child_, nullptr, 0);
}

bool MachineTarget::hello(std::string& why, bool& refused) {
  channel_->send(Message::kHello, Packer().u32(kWireVersion).bytes);
  Channel::Received answer;
  if (!await(Message::kProbes, answer, why)) return refused = !gone_, false;
  if (unpack_probes(answer.body, probes_)) {
    // The process may have another number in its own namespace, and other machines may have the
    // same one in theirs.
    for (ProbeInfo& probe : probes_)
      probe.provider = provider_of(probe.provider, static_cast<std::uint64_t>(pid_));
    return true;
  }
  why = "its list of probes cannot be read; it is of another version";
  refused = true;
  return false;
}

std::vector<ListedFunction> MachineTarget::functions(const FunctionPattern& pattern, std::size_t most) {
  std::vector<ListedFunction> out;
  channel_->send(Message::kFunctions, Packer()
                                          .text(pattern.module)
                                          .text(pattern.function)
                                          .u32(static_cast<std::uint32_t>(pattern.arity))
                                          .u32(static_cast<std::uint32_t>(most))
                                          .bytes);
  Channel::Received answer;
  std::string why;
  if (await(Message::kFunctions, answer, why) && !unpack_functions(answer.body, out)) out.clear();
  return out;
}

bool MachineTarget::open(const Program& program, std::string& why) {
  adjust_clock();
  all_.resize(program.aggregations.size());
  std::iota(all_.begin(), all_.end(), 0U);
  channel_->send(Message::kProgram, to_bytes(program));
  Channel::Received answer;
  return await(Message::kReady, answer, why);
}

bool MachineTarget::begin(std::string& why) {
  channel_->send(Message::kGo);
  if (channel_->flush()) return true;
  why = "the connection is gone";
  return false;
}

std::uint64_t MachineTarget::work(std::uint64_t most_ns) {
  if (gone_) return most_ns;
  const bool alive = channel_->flush() && channel_->fill();
  for (Channel::Received received; channel_->take(received);) by_the_way(received);
  if (!alive) gone_ = true;
  return most_ns;
}

void MachineTarget::end() {
  if (gone_ || stopped_) return;
  channel_->send(Message::kStop);
  Channel::Received answer;
  std::string why;
  await(Message::kStopped, answer, why);
  stopped_ = true;
}

void MachineTarget::release() {
  (void)drops(Drop::kPrincipal);
  gone_ = true;
  channel_.reset();
}

std::vector<Ring*> MachineTarget::rings() {
  std::vector<Ring*> all;
  for (const auto& ring : rings_) all.push_back(ring.get());
  return all;
}

std::vector<Element> MachineTarget::aggregations() {
  std::vector<Element> elements;
  if (gone_ || all_.empty()) return elements;
  Packer body;
  for (const std::uint32_t a : all_) body.u32(a);
  channel_->send(Message::kAggregations, body.bytes);
  Channel::Received answer;
  std::string why;
  if (await(Message::kAggregations, answer, why) && !unpack_elements(answer.body, elements)) elements.clear();
  return elements;
}

std::uint64_t MachineTarget::drops(Drop kind) {
  if (!gone_) channel_->send(Message::kDrops);
  Channel::Received answer;
  std::string why;
  if (!gone_ && await(Message::kDrops, answer, why)) {
    Unpacker counts(answer.body);
    for (std::uint64_t& n : drops_) n = counts.u64();
  }
  return drops_[static_cast<std::size_t>(kind)];
}

std::uint64_t MachineTarget::firings() {
  if (gone_) return firings_;
  channel_->send(Message::kFirings);
  Channel::Received answer;
  std::string why;
  if (await(Message::kFirings, answer, why)) firings_ = Unpacker(answer.body).u64();
  return firings_;
}

bool MachineTarget::totals(Totals& totals) {
  if (gone_) return false;
  channel_->send(Message::kTotals);
  Channel::Received answer;
  std::string why;
  return await(Message::kTotals, answer, why) && unpack_totals(answer.body, totals);
}

std::vector<std::pair<std::uint64_t, std::string>> MachineTarget::new_atoms() {
  std::vector<std::pair<std::uint64_t, std::string>> atoms;
  for (bool more = !gone_; more;) {
    channel_->send(Message::kAtomsFrom, Packer().u32(atoms_reported_).bytes);
    Channel::Received answer;
    std::string why;
    if (!await(Message::kAtomsFrom, answer, why)) break;
    Unpacker in(answer.body);
    for (more = !in.at_end(); !in.at_end() && in.ok(); ++atoms_reported_) {
      const std::uint64_t number = in.u64();
      atoms.emplace_back(number, in.text());
    }
  }
  return atoms;
}

Names MachineTarget::names() {
  return [this](NameKind kind, const std::vector<std::uint64_t>& numbers) {
    constexpr Message kMessages[kNameKinds] = {Message::kAtoms, Message::kAddresses, Message::kFunctionNames};
    std::vector<std::string> all;
    for (std::size_t at = 0; at < numbers.size() && !gone_;) {
      Packer body;
      const std::size_t to = std::min(numbers.size(), at + kMostNames);
      for (; at < to; ++at) body.u64(numbers[at]);
      std::vector<std::string> some = ask_names(kMessages[static_cast<std::size_t>(kind)], body.bytes);
      some.resize(to - all.size());
      std::ranges::move(some, std::back_inserter(all));
    }
    return all;
  };
}

std::string MachineTarget::node() {
  const std::vector<std::string> names = ask_names(Message::kNode, "");
  return names.empty() ? "" : names[0];
}

/// Returns no names when the machine does not answer.
std::vector<std::string> MachineTarget::ask_names(Message what, std::string_view body) {
  std::vector<std::string> names;
  if (gone_) return names;
  channel_->send(what, body);
  Channel::Received answer;
  std::string why;
  if (!await(Message::kNames, answer, why) || !unpack_names(answer.body, names)) names.clear();
  return names;
}

void MachineTarget::by_the_way(Channel::Received& received) {
  switch (received.message) {
    case Message::kRing: {
      std::string why;
      rings_reported_++;
      if (received.passed < 0) return;
      if (auto ring = Ring::map(received.passed, why)) rings_.push_back(std::move(ring));
      return;
    }
    case Message::kExit: {
      Unpacker body(received.body);
      exiting_ = true;
      status_ = static_cast<int>(body.u32());
      return;
    }
    case Message::kStopped: stopped_ = stopped_of_itself_ = true; return;
    default: break;
  }
  if (received.passed >= 0) close(received.passed);
}

bool MachineTarget::await(Message wanted, Channel::Received& answer, std::string& why, int timeout_ms) {
  for (;;) {
    if (!channel_->wait(answer, timeout_ms)) {
      gone_ = true;
      why = "it does not answer";
      return false;
    }
    if (answer.message == wanted) {
      if (wanted == Message::kStopped) stopped_ = true;
      return true;
    }
    if (answer.message == Message::kRefused) {
      why = Unpacker(answer.body).text();
      return false;
    }
    by_the_way(answer);
  }
}

}  // namespace vmrun::d
