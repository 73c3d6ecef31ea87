// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <catch2/catch.hpp>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "probes/engine/host.hpp"
#include "probes/engine/operations.hpp"
#include "probes/engine/program.hpp"
#include "probes/engine/record.hpp"
#include "probes/engine/ring.hpp"
#include "probes/engine/session.hpp"

/// What the engine's tests share: a host with a few probes that anybody may fire, and programs
/// written by hand.
namespace vmrun::d::test {

using Op = Operation;

/// Probes 0 to 3. An argument of kind kPid is shown as its word and that plus one; of kind kText as
/// the text that it is the address of; 0 is none. Terms are their words: element(t, n) is t + n.
class TestHost : public Host {
 public:
  const std::vector<ProbeInfo>& probes() const override { return probes_; }
  EncodedArgument encoded_argument(const Firing& f, unsigned n, char* out, std::size_t room) override {
    const auto word = f.arguments[n];
    if (word == 0) return {Encoding::kNull, 0};
    if (f.kinds[n] == ArgumentKind::kPid) {
      const std::uint64_t shown[] = {word, word + 1};
      if (room < sizeof shown) return {Encoding::kNull, 0};
      std::memcpy(out, shown, sizeof shown);
      return {Encoding::kPid, sizeof shown};
    }
    const auto* text = reinterpret_cast<const char*>(word);
    const auto bytes = std::min(std::strlen(text), room);
    std::memcpy(out, text, bytes);
    return {Encoding::kText, bytes};
  }
  std::ptrdiff_t argument_text(const Firing& f, unsigned n, char* out, std::size_t room) override {
    if (f.arguments[n] == 0 || f.kinds[n] >= ArgumentKind::kInt) return -1;
    const auto text = f.kinds[n] == ArgumentKind::kPid ? "<" + std::to_string(f.arguments[n]) + ">"
                                                       : reinterpret_cast<const char*>(f.arguments[n]);
    const auto bytes = std::min(text.size(), room - 1);
    std::memcpy(out, text.data(), bytes);
    out[bytes] = '\0';
    return static_cast<std::ptrdiff_t>(bytes);
  }
  std::uint64_t self_key(const Firing&) override { return self_; }
  std::uint64_t builtin_number(unsigned builtin, const Firing&) override {
    return builtin == 6 ? 7 : 1000 + builtin;
  }
  EncodedArgument builtin_encoded(unsigned, const Firing&, char* out, std::size_t) override {
    std::memcpy(out, "host", 4);
    return {Encoding::kText, 4};
  }
  std::size_t stack(const Firing&, std::uint64_t* out, std::size_t most) override {
    const std::size_t n = std::min<std::size_t>(most, 5);
    for (std::size_t i = 0; i < n; ++i) out[i] = 100 + i;
    return n;
  }
  bool argument_term(const Firing& f, unsigned n, std::uint64_t& term) override {
    if (n >= f.argument_count) return false;
    term = f.arguments[n];
    return true;
  }
  bool term_part(unsigned, std::uint64_t term, std::int64_t n, std::uint64_t& out) override {
    out = term + static_cast<std::uint64_t>(n);
    return n != 13;
  }
  bool term_number(unsigned, std::uint64_t term, std::int64_t& out) override {
    out = static_cast<std::int64_t>(term);
    return true;
  }
  std::size_t term_text(std::uint64_t term, char* out, std::size_t room) override {
    const auto text = std::to_string(term);
    std::memcpy(out, text.data(), std::min(text.size(), room));
    return std::min(text.size(), room);
  }
  void enable(std::uint32_t probe) override { ++enabled_[probe]; }
  void disable(std::uint32_t probe) override { --enabled_[probe]; }
  void wait_for_firings() override {
    // As of now: each thread's counter is odd inside a firing. The fence keeps what the caller
    // stored before (tables that were swapped) in front of the looks; pairs with fetch_add in fire.
    std::atomic_thread_fence(std::memory_order_seq_cst);
    for (auto& counter : firing_) {
      const auto before = counter.load();
      while (before % 2 != 0 && counter.load() == before) {}
    }
  }
  std::string atom_name(std::uint64_t) override { return "atom"; }
  std::string address_name(std::uint64_t) override { return "m:f/1"; }

  /// As the machine does it: of thread number `thread`, from 0 to 7.
  void fire(Session& session, std::uint32_t probe, std::vector<std::uint64_t> arguments = {},
            std::vector<ArgumentKind> kinds = {}, unsigned thread = 0) {
    kinds.resize(arguments.size(), ArgumentKind::kInt64);
    firing_[thread].fetch_add(1);
    session.fire({probe, static_cast<std::uint32_t>(arguments.size()), arguments.data(), kinds.data()});
    firing_[thread].fetch_add(1);
  }

  int enabled_[4] = {};
  std::uint64_t self_ = 1;

 private:
  std::vector<ProbeInfo> probes_{4, {"erlang1", "vmrun", "-", "message-send", {}}};
  std::atomic<std::uint64_t> firing_[8] = {};
};

inline Clause clause(std::uint32_t probe, std::vector<Instruction> body, bool makes_record = true) {
  Clause c;
  c.probes.push_back({probe, "", "", -1});
  c.body = std::move(body);
  c.body.push_back({Op::kRet});
  c.makes_record = makes_record;
  return c;
}

/// The words of one record after its head.
struct Read {
  Record head;
  std::vector<std::uint64_t> words;
  bool operator==(const std::vector<std::uint64_t>& expected) const { return words == expected; }
};

inline std::vector<Read> split(const std::vector<std::uint64_t>& words) {
  std::vector<Read> all;
  for (std::size_t at = 0; at < words.size();) {
    Read one;
    std::memcpy(&one.head, &words[at], sizeof one.head);
    REQUIRE(one.head.bytes >= sizeof one.head);
    REQUIRE(at + one.head.bytes / 8 <= words.size());
    one.words.assign(words.begin() + static_cast<std::ptrdiff_t>(at) + 3,
                     words.begin() + static_cast<std::ptrdiff_t>(at + one.head.bytes / 8));
    all.push_back(one);
    at += one.head.bytes / 8;
  }
  return all;
}

/// Returns the records of all threads, one thread after the other.
inline std::vector<Read> records(Session& session) {
  std::vector<Read> all;
  for (Ring* ring : session.rings()) {
    std::vector<std::uint64_t> words;
    while (ring->take(words) != 0) {}
    for (auto& one : split(words)) all.push_back(one);
  }
  return all;
}

inline std::unique_ptr<Session> opened(Program program, Host& host) {
  std::string why;
  auto session = Session::open(std::move(program), host, why);
  INFO(why);
  REQUIRE(session != nullptr);
  return session;
}

/// Adds a text to the program's and returns its offset.
inline std::int32_t text(Program& p, const std::string& s) {
  if (p.texts.empty()) p.texts.push_back('\0');
  const auto at = static_cast<std::int32_t>(p.texts.size());
  p.texts += s;
  p.texts.push_back('\0');
  return at;
}

/// The words of a text as field or key.
inline std::vector<std::uint64_t> encoded(Encoding shape, const std::string& bytes) {
  std::vector<std::uint64_t> words(1 + (bytes.size() + 7) / 8);
  words[0] = static_cast<std::uint64_t>(shape) | static_cast<std::uint64_t>(bytes.size()) << 32;
  if (!bytes.empty()) std::memcpy(&words[1], bytes.data(), bytes.size());
  return words;
}

/// The body in BEGIN, and what its one record has after the number of action 0 (which it begins).
/// Of a fault: its kind and address.
struct Ran {
  std::vector<std::uint64_t> words;
  bool fault = false;
  FaultKind kind = FaultKind::kUnknown;
  std::uint64_t address = 0, offset = 0;
};
inline Ran ran(Program p, std::vector<Instruction> body, TestHost& host) {
  p.actions.resize(1);
  body.insert(body.begin(), {Op::kBegin});
  p.clauses = {clause(kBeginProbe, std::move(body))};
  auto session = opened(p, host);
  session->begin();
  const auto all = records(*session);
  REQUIRE(all.size() == 1);
  Ran result;
  result.words = all[0].words;
  if (all[0].head.flags == kRecordFault) {
    Fault fault;
    REQUIRE(all[0].words.size() == 5);
    std::memcpy(&fault, all[0].words.data(), sizeof fault);
    result.fault = true, result.kind = fault.kind, result.address = fault.address,
    result.offset = fault.offset;
  } else {
    result.words.erase(result.words.begin());
  }
  return result;
}
inline Ran ran(const Program& p, std::vector<Instruction> body) {
  TestHost host;
  return ran(p, std::move(body), host);
}

}  // namespace vmrun::d::test
