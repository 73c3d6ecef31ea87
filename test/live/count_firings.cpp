// SPDX-License-Identifier: Apache-2.0
// Counts the firings of probes of a running vmrun, by their first argument, over the tracing
// socket, without the language: the script is put together here.
//
//   count_firings PID PROBE...
//
// Says `ready` once the probes are enabled; when its standard input ends, or the machine does, it
// prints a line for each probe: its name, how many firings, with how many different first
// arguments. With `hello` in place of probes it goes once it has been greeted.
#include <cstdio>
#include <cstring>
#include <map>
#include <string>
#include <vector>

#include <poll.h>
#include <unistd.h>

#include "probes/engine/attach_protocol.hpp"
#include "probes/engine/operations.hpp"
#include "probes/engine/program.hpp"
#include "probes/vmtrace/reach.hpp"

using namespace vmrun::d;

namespace {

[[noreturn]] void fail(const std::string& why) {
  std::fprintf(stderr, "count_firings: %s\n", why.c_str());
  std::_Exit(1);
}

int connect_to(pid_t pid) {
  std::string why;
  const int connection = open_endpoint(pid, why);
  if (connection < 0) fail(why);
  return connection;
}

Channel::Received await(Channel& channel, Message message) {
  Channel::Received received;
  for (;;) {
    if (!channel.wait(received, 60'000)) fail("no answer");
    if (received.passed >= 0) close(received.passed);
    if (received.message == message) return received;
    if (received.message == Message::kRefused) fail(Unpacker(received.body).text());
  }
}

Instruction instruction(Operation operation, unsigned a, unsigned b, std::int32_t imm) {
  return {operation, static_cast<std::uint8_t>(a), static_cast<std::uint8_t>(b), 0, imm};
}

Program counting(const std::vector<ProbeInfo>& probes, const std::vector<std::string>& wanted) {
  Program program;
  program.texts.push_back(0);
  for (const std::string& name : wanted) {
    std::uint32_t number = 0;
    while (number < probes.size() && probes[number].name != name) ++number;
    if (number == probes.size()) fail("no probe " + name);
    const auto a = static_cast<std::int32_t>(program.aggregations.size());
    program.aggregations.push_back({name, Aggregating::kCount, {}, true});
    Clause clause;
    clause.probes.push_back({number, "", "", -1});
    clause.makes_record = false;
    clause.body = {instruction(Operation::kKeyarg, 0, 0, 0), instruction(Operation::kLoad, 0, 0, 1),
                   instruction(Operation::kAgg, 0, 0, a), instruction(Operation::kRet, 0, 0, 0)};
    program.clauses.push_back(std::move(clause));
  }
  return program;
}

/// Until the standard input ends; true: the machine has ended before.
bool wait_for_end(Channel& channel) {
  for (;;) {
    pollfd wait[] = {{STDIN_FILENO, POLLIN, 0}, {channel.descriptor(), POLLIN, 0}};
    poll(wait, 2, -1);
    const bool there = !wait[1].revents || channel.fill();
    for (Channel::Received received; channel.take(received);) {
      if (received.passed >= 0) close(received.passed);
      if (received.message == Message::kStopped) return true;
    }
    if (!there) fail("the machine is gone");
    char c;
    if (wait[0].revents && read(STDIN_FILENO, &c, 1) <= 0) return false;
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3) fail("PID PROBE...");
  const auto pid = static_cast<pid_t>(std::stol(argv[1]));
  const std::vector<std::string> wanted(argv + 2, argv + argc);
  Channel channel(connect_to(pid), Channel::Descriptors::kTaken);
  channel.send(Message::kHello, Packer().u32(kWireVersion).bytes);
  std::vector<ProbeInfo> probes;
  if (!unpack_probes(await(channel, Message::kProbes).body, probes)) fail("what probes?");
  if (wanted[0] == "hello") return 0;

  channel.send(Message::kProgram, to_bytes(counting(probes, wanted)));
  await(channel, Message::kReady);
  channel.send(Message::kGo);
  channel.send(Message::kDrops);
  await(channel, Message::kDrops);
  std::puts("ready");
  std::fflush(stdout);
  if (!wait_for_end(channel)) {
    channel.send(Message::kStop);
    await(channel, Message::kStopped);
  }
  channel.send(Message::kAggregations);
  std::vector<Element> elements;
  if (!unpack_elements(await(channel, Message::kAggregations).body, elements)) fail("what elements?");
  std::map<std::uint32_t, std::pair<std::uint64_t, std::uint64_t>> sums;
  for (const Element& e : elements) {
    sums[e.aggregation].first += e.values.at(0);
    ++sums[e.aggregation].second;
  }
  for (std::uint32_t i = 0; i < wanted.size(); ++i)
    std::printf("%s %llu %llu\n", wanted[i].c_str(), static_cast<unsigned long long>(sums[i].first),
                static_cast<unsigned long long>(sums[i].second));
  channel.send(Message::kDrops);
  const Channel::Received counts = await(channel, Message::kDrops);
  Unpacker drops(counts.body);
  for (unsigned k = 0; k < static_cast<unsigned>(Drop::kCount); ++k)
    if (const std::uint64_t n = drops.u64())
      std::printf("drops %u %llu\n", k, static_cast<unsigned long long>(n));
}
