// SPDX-License-Identifier: Apache-2.0
// Processes, signals and schedulers, driven by C++ bodies in the place of Erlang code. A body is
// called for each slice.
#include <catch2/catch.hpp>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "vm/base/clock.hpp"
#include "vm/lifecycle/exit.hpp"
#include "vm/lifecycle/gc.hpp"
#include "vm/lifecycle/spawn.hpp"
#include "vm/message/handle.hpp"
#include "vm/message/links.hpp"
#include "vm/message/process_receiver.hpp"
#include "vm/message/receive.hpp"
#include "vm/message/request.hpp"
#include "vm/message/send.hpp"
#include "vm/process/bif.hpp"
#include "vm/process/fiber.hpp"
#include "vm/process/process_table.hpp"
#include "vm/process/registry.hpp"
#include "vm/sched/scheduler.hpp"
#include "vm/term/external.hpp"
#include "vm/term/print.hpp"

using namespace vmrun;

// Bodies run on scheduler threads, where Catch's own assertions may not be used.
#define MUST(condition) ((condition) ? void() : fail_hard(#condition, __LINE__))

namespace {

[[noreturn]] void fail_hard(const char* condition, int line) {
  std::fprintf(stderr, "scheduler_test.cpp:%d: not so: %s\n", line, condition);
  std::abort();
}

using Body = std::function<RunResult(Process&)>;

/// A process names its body by number in the place of its function.
struct Bodies {
  std::mutex mutex;
  std::vector<std::shared_ptr<Body>> list;
  Term add(Body b) {
    std::lock_guard guard(mutex);
    list.push_back(std::make_shared<Body>(std::move(b)));
    return Term::small(static_cast<SWord>(list.size()) - 1);
  }
  std::shared_ptr<Body> at(Term n) {
    std::lock_guard guard(mutex);
    return list[static_cast<std::size_t>(n.small_value())];
  }
} bodies;

RunResult run_body(Scheduler&, Process& p) {
  p.live_saved = 0;
  return (*bodies.at(p.initial_function))(p);
}

RunResult finish(Process& p, Term reason) {
  exit_process(p, reason, false);
  return RunResult::kExited;
}

Term spawn(Process* parent, Term body, Term arguments = Term::nil(), const SpawnOptions& options = {},
           RefKey* key = nullptr) {
  const Term pid = spawn_process(parent, atoms::main, body, arguments, options, key);
  MUST(pid.is_local_pid());
  return pid;
}

struct Machine {
  explicit Machine(unsigned schedulers, bool random = false) {
    static const bool once = (process_table.init(1 << 16), true);
    (void)once;
    options.schedulers = schedulers;
    options.run = run_body;
    options.random = random;
  }
  void start() { start_schedulers(options); }
  /// Until nothing lives any more; the last may still be at its end, see stop.
  void wait_until_empty() {
    const auto limit = std::chrono::steady_clock::now() + std::chrono::seconds(60);
    while (process_table.count() != 0) {
      if (std::chrono::steady_clock::now() > limit) FAIL("processes left: " << process_table.count());
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
  }
  /// Waits for its threads: processes leave the table before they have done all that ends them.
  void stop() { stop_schedulers(); }
  ~Machine() { stop(); }
  SchedulerOptions options;
};

/// Takes every message that is there; false when exiting.
template <class F>
Peek take_all(Process& p, F&& f) {
  Term message;
  for (;;) {
    const Peek peek = receive_peek(p, &message);
    if (peek != Peek::kMessage) return peek;
    receive_remove(p);
    f(message);
  }
}

}  // namespace

TEST_CASE("Two processes pass a counter to and fro") {
  for (unsigned schedulers : {1u, 3u}) {
    Machine machine(schedulers);
    constexpr int kRounds = 20000;
    std::atomic<int> last{0};
    const Term body = bodies.add([&](Process& p) {
      bool done = false;
      const Peek end = take_all(p, [&](Term m) {
        const Term from = m.element(0);
        const SWord n = m.element(1).small_value();
        last = static_cast<int>(n);
        if (n >= kRounds) done = true;
        Term* hp = p.heap.alloc(3);
        if (n <= kRounds) MUST(send_message(p, from, make_tuple(hp, p.id, Term::small(n + 1))));
      });
      if (end == Peek::kExiting) return finish(p, p.exit_reason);
      return done ? finish(p, atoms::normal) : RunResult::kWaiting;
    });
    const Term a = spawn(nullptr, body), b = spawn(nullptr, body);
    {
      EpochGuard guard;
      Process* p = process_table.find(a);
      Term* hp = p->heap.alloc(3);
      MUST(send_message(*p, b, make_tuple(hp, a, Term::small(1))));
    }
    machine.start();
    machine.wait_until_empty();
    REQUIRE(last >= kRounds);
  }
}

TEST_CASE("Many processes send to one, some junk is skipped") {
  Machine machine(4);
  constexpr int kSenders = 50, kEach = 500;
  std::atomic<long> sum{0};
  std::atomic<int> wanted_seen{0};
  const Term collector_body = bodies.add([&](Process& p) {
    // Selective: odd numbers stay in the mailbox.
    Term message;
    for (;;) {
      const Peek peek = receive_peek(p, &message);
      if (peek == Peek::kEmpty) break;
      if (peek == Peek::kExiting) return finish(p, p.exit_reason);
      if (message.small_value() % 2) {
        receive_next(p);
      } else {
        receive_remove(p);
        sum += message.small_value();
        ++wanted_seen;
      }
    }
    if (wanted_seen < kSenders * kEach / 2) return RunResult::kWaiting;
    MUST(p.mailbox.length() == kSenders * kEach / 2);
    return finish(p, atoms::normal);
  });
  const Term collector = spawn(nullptr, collector_body);
  const Term sender_body = bodies.add([&](Process& p) {
    for (int i = 0; i < kEach; ++i) MUST(send_message(p, collector, Term::small(i)));
    return finish(p, atoms::normal);
  });
  for (int i = 0; i < kSenders; ++i) spawn(nullptr, sender_body);
  machine.start();
  machine.wait_until_empty();
  long expected = 0;
  for (int i = 0; i < kEach; i += 2) expected += i;
  REQUIRE(sum == expected * kSenders);
}

TEST_CASE("Exit signals follow links, monitors report, trapping turns them into messages") {
  Machine machine(2);
  std::atomic<int> downs{0}, exits{0}, killed_children{0};
  const Term waiting_body = bodies.add([&](Process& p) {
    const Peek end = take_all(p, [](Term) {});
    if (end == Peek::kExiting) {
      ++killed_children;
      return finish(p, p.exit_reason);
    }
    return RunResult::kWaiting;
  });
  std::atomic<int> phase{0};
  const Term parent_body = bodies.add([&](Process& p) {
    if (phase == 0) {
      p.trap_exit = true;
      SpawnOptions options;
      options.link = options.monitor = true;
      for (int i = 0; i < 100; ++i) {
        RefKey key;
        const Term child = spawn(&p, waiting_body, Term::nil(), options, &key);
        receiver_of(child).exit(child, {.from = p.id, .reason = i % 2 ? atoms::kill : intern_atom("boom")});
      }
      phase = 1;
    }
    take_all(p, [&](Term m) {
      if (m.element(0) == atoms::exit_upper) {
        ++exits;
        MUST((m.element(2) == atoms::killed || m.element(2) == intern_atom("boom")));
      } else {
        MUST(m.element(0) == atoms::down);
        ++downs;
      }
    });
    if (exits < 100 || downs < 100) return RunResult::kWaiting;
    MUST(p.extra->links.empty());
    MUST(p.extra->monitors.empty());
    // A link or monitor to something dead answers noproc.
    return finish(p, atoms::normal);
  });
  spawn(nullptr, parent_body);
  machine.start();
  machine.wait_until_empty();
  REQUIRE(exits == 100);
  REQUIRE(downs == 100);
}

namespace {

/// Stands where a channel to another node would, and writes down what is to go there.
class Channel final : public Receiver {
 public:
  std::vector<std::string> written;

  SendResult send(Process& from, const Destination& to, Term message, SendOptions) override {
    return write("message", from.id, to.who, message), SendResult::kDone;
  }
  Reached link(Term to, Term from, std::uint32_t) override { return write("link", from, to), Reached::kYes; }
  void unlink(Term to, Term from, LinkSettings) override { write("unlink", from, to); }
  bool exit(Term to, const ExitSignal& signal) override {
    write(signal.by_link ? "linked exit" : "exit", signal.from, to, signal.reason);
    return true;
  }
  Reached monitor(Term to, Term watcher, RefKey, Term) override {
    return write("monitor", watcher, to), Reached::kYes;
  }
  void demonitor(Term to, Term watcher, RefKey) override { write("demonitor", watcher, to); }
  void down(Term to, const DownSignal& signal) override { write("down", signal.object, to, signal.reason); }
  Reached group_leader(Term to, Term leader) override {
    return write("group leader", leader, to), Reached::kYes;
  }

 private:
  void write(const char* verb, Term from, Term to, Term what = Term::nil()) {
    const auto text = [](Term t) { return t.is_local_pid() ? "here" : term_text(t); };
    written.push_back(verb + (" " + text(from)) + " " + text(to) + " " + text(what));
  }
};

/// As it comes from bytes: process, or {Name, Node}.
Term remote_process(Process& p) {
  static constexpr std::uint8_t kBytes[] = {131, 88, 119, 1, 'b', 0, 0, 0, 5, 0, 0, 0, 0, 0, 0, 0, 7};
  return decode_external(p.heap, kBytes, sizeof kBytes).term;
}
Term remote_name(Process& p) {
  static constexpr std::uint8_t kBytes[] = {131, 104, 2, 119, 3, 'f', 'o', 'o', 119, 1, 'b'};
  return decode_external(p.heap, kBytes, sizeof kBytes).term;
}

}  // namespace

TEST_CASE("A channel to another node is one more receiver") {
  Machine machine(1);
  Channel channel;
  Receiver* const before = receivers.remote;
  receivers.remote = &channel;
  std::string pid;
  const Term body = bodies.add([&](Process& p) {
    p.trap_exit = true;
    Term other = remote_process(p);
    const Term name = remote_name(p), boom = intern_atom("boom");
    pid = term_text(other);
    // What this process does.
    MUST(send_message(p, other, atoms::ok) && send_message(p, name, atoms::ok));
    MUST(extra_of(p).links.set(other) && !p.extra->links.set(remote_process(p)));
    MUST(receiver_of(other).link(other, p.id, 1) == Reached::kYes);
    for (const Term of : {other, name}) {
      const StartedMonitor started = start_monitor(p, find_destination(of), false, {});
      MUST(started.reached == Reached::kYes);
      if (of == other) MUST(stop_monitor(p, started.key));
    }
    receiver_of(other).exit(other, {.from = p.id, .reason = boom});
    receiver_of(other).group_leader(other, p.id);
    // What comes from there.
    MUST(process_receiver.group_leader(p.id, other) == Reached::kYes);
    MUST(process_receiver.monitor(p.id, other, next_ref_key(), Term::nil()) == Reached::kYes);
    process_receiver.exit(p.id, {.from = other, .reason = boom, .by_link = true});
    // All that is kept outlives its origin.
    p.saved_regs[0] = Term::nil();
    MUST(collect_major(p, 0, p.saved_regs, 0) >= 0);
    int exits = 0;
    take_all(p,
             [&](Term m) { exits += m.element(0) == atoms::exit_upper && term_text(m.element(1)) == pid; });
    MUST(exits == 1 && p.extra->links.empty() && term_text(p.group_leader) == pid);
    other = remote_process(p);
    MUST(process_receiver.link(p.id, other, 1) == Reached::kYes);
    handle_arrivals(p);
    MUST(p.extra->links.contains(other));
    MUST(collect_major(p, 0, p.saved_regs, 0) >= 0);
    return finish(p, atoms::normal);
  });
  spawn(nullptr, body);
  machine.start();
  machine.wait_until_empty();
  machine.stop();
  receivers.remote = before;
  const std::vector<std::string> expected = {
      "message here " + pid + " ok",
      "message here {foo,b} ok",
      "link here " + pid + " []",
      "monitor here " + pid + " []",
      "demonitor here " + pid + " []",
      "monitor here {foo,b} []",
      "exit here " + pid + " boom",
      "group leader here " + pid + " []",
      "linked exit here " + pid + " normal",
      "down here " + pid + " normal",
      "demonitor here {foo,b} []",
  };
  REQUIRE(channel.written == expected);
}

TEST_CASE("Timeouts wake a receive, not before their time") {
  Machine machine(2);
  std::atomic<int> early{0}, done{0};
  const Term body = bodies.add([&](Process& p) {
    Term message;
    const SWord ms = 5 + static_cast<SWord>(p.id.id_number() % 20);
    if (receive_peek(p, &message) != Peek::kEmpty) return finish(p, atoms::error);
    if (!p.receive_timer) p.inline_regs[3] = Term::small(static_cast<SWord>(read_clock(CLOCK_MONOTONIC)));
    switch (receive_start_timer(p, Term::small(ms))) {
      case TimeoutState::kWait: return RunResult::kWaiting;
      case TimeoutState::kExpired:
        if (static_cast<SWord>(read_clock(CLOCK_MONOTONIC)) - p.inline_regs[3].small_value() < ms * 1'000'000)
          ++early;
        receive_timeout(p);
        ++done;
        return finish(p, atoms::normal);
      default: return finish(p, atoms::error);
    }
  });
  for (int i = 0; i < 500; ++i) spawn(nullptr, body);
  machine.start();
  machine.wait_until_empty();
  REQUIRE(done == 500);
  REQUIRE(early == 0);
}

TEST_CASE("Questions to other processes are answered, by the dead too") {
  Machine machine(3);
  std::atomic<int> alive{0}, dead{0};
  const Term target_body = bodies.add([](Process& p) {
    bool stop = false;
    take_all(p, [&](Term) { stop = true; });
    return stop || p.exit_pending ? finish(p, atoms::normal) : RunResult::kWaiting;
  });
  const Term target = spawn(nullptr, target_body);
  const Term asker_body = bodies.add([&](Process& p) {
    const Term answer = ask(p, target, RequestKind::kIsAlive, Term::nil(), atoms::false_);
    if (!answer) return RunResult::kSuspended;
    if (answer == atoms::true_) {
      ++alive;
      MUST(send_message(p, target, atoms::exit));
      return RunResult::kYielded;  // asks again, until it is gone
    }
    ++dead;
    return finish(p, atoms::normal);
  });
  for (int i = 0; i < 40; ++i) spawn(nullptr, asker_body);
  machine.start();
  machine.wait_until_empty();
  REQUIRE(dead == 40);
  REQUIRE(alive >= 1);
}

TEST_CASE("A long function on a fiber yields and comes back, or is unwound") {
  Machine machine(2, true);
  static std::atomic<int> finished{0}, unwound{0}, yields{0};
  const FiberBody long_work = [](Process& p, const Term* args) {
    struct Guard {
      ~Guard() { ++unwound; }
    } guard;
    Term sum = Term::small(0);
    FiberRoots root(p, sum);
    for (SWord i = 0; i < args[0].small_value(); ++i) {
      sum = Term::small(sum.small_value() + i);
      if (i % 10 == 0) {
        ++yields;
        fiber_yield(p);
      }
    }
    return sum;
  };
  const Term body = bodies.add([&](Process& p) {
    const Term arg = Term::small(1000);
    const Term result = run_on_fiber(p, long_work, &arg, 1);
    if (!result)
      return p.id.id_number() % 4 == 0 && yields > 200 ? finish(p, atoms::kill) : RunResult::kYielded;
    MUST(result == Term::small(499500));
    ++finished;
    return finish(p, atoms::normal);
  });
  for (int i = 0; i < 40; ++i) spawn(nullptr, body);
  machine.start();
  machine.wait_until_empty();
  machine.stop();
  REQUIRE(finished >= 30);
  REQUIRE(unwound == 40);
}

TEST_CASE("Processes spawn processes all over") {
  Machine machine(4, true);
  std::atomic<int> leaves{0};
  Term body;
  body = bodies.add([&](Process& p) {
    const SWord depth = p.inline_regs[2].head().small_value();
    if (depth == 0) {
      ++leaves;
      return finish(p, atoms::normal);
    }
    for (int i = 0; i < 2; ++i) {
      Term* hp = p.heap.alloc(2);
      spawn(&p, body, make_cons(hp, Term::small(depth - 1), Term::nil()));
    }
    return finish(p, atoms::normal);
  });
  {
    Arena arena;
    Term* hp = arena.alloc(2);
    spawn(nullptr, body, make_cons(hp, Term::small(13), Term::nil()));
  }
  machine.start();
  machine.wait_until_empty();
  REQUIRE(leaves == 1 << 13);
}

namespace {

/// Does not yield until `done`. Everything that does not come about within a minute never does.
void hold_core_until(const std::function<bool()>& done) {
  const auto limit = std::chrono::steady_clock::now() + std::chrono::seconds(60);
  while (!done()) MUST(std::chrono::steady_clock::now() < limit);
}

}  // namespace

TEST_CASE("What waits behind a call that does not yield runs elsewhere") {
  Machine machine(2);
  static std::atomic<bool> child_ran, timed_out, answered, waiting;
  child_ran = timed_out = answered = waiting = false;
  const Term child_body = bodies.add([&](Process& p) {
    child_ran = true;
    return finish(p, atoms::normal);
  });
  // Its timer is on the wheel of the scheduler that is held.
  const Term timer_body = bodies.add([&](Process& p) {
    Term message;
    if (receive_peek(p, &message) != Peek::kEmpty) return finish(p, atoms::error);
    if (receive_start_timer(p, Term::small(20)) == TimeoutState::kWait) return RunResult::kWaiting;
    receive_timeout(p);
    timed_out = true;
    return finish(p, atoms::normal);
  });
  // What it waits for comes from a thread that is no scheduler.
  const Term server_body = bodies.add([&](Process& p) {
    bool got = false;
    take_all(p, [&](Term) { got = true; });
    if (got) answered = true;
    waiting = true;
    return got ? finish(p, atoms::normal) : RunResult::kWaiting;
  });
  static Term server;
  const Term holder_body = bodies.add([&](Process& p) {
    hold_core_until([] { return waiting.load(); });
    spawn(&p, child_body);
    hold_core_until([] { return child_ran && timed_out && answered; });
    return finish(p, atoms::normal);
  });
  const Term starter_body = bodies.add([&](Process& p) {
    server = spawn(&p, server_body);
    spawn(&p, timer_body);
    spawn(&p, holder_body);
    return finish(p, atoms::normal);
  });
  spawn(nullptr, starter_body);
  machine.start();
  hold_core_until([] { return child_ran.load(); });
  {
    EpochGuard guard;
    Fragment* f = Fragment::create(0);
    f->message = Term::small(1);
    send_from_vm(server, f);
  }
  machine.wait_until_empty();
  REQUIRE(answered);
}

TEST_CASE("A storm of processes that hold their core, spawn, send and wait loses nobody") {
  Machine machine(6);
  constexpr int kWorkers = 300, kRounds = 20;
  static std::atomic<int> ended, echoes, timeouts;
  ended = echoes = timeouts = 0;
  const Term echo_body = bodies.add([&](Process& p) {
    bool got = false;
    take_all(p, [&](Term from) {
      got = true;
      (void)send_message(p, from, Term::small(1));
    });
    if (!got) return RunResult::kWaiting;
    ++echoes;
    return finish(p, atoms::normal);
  });
  const Term worker_body = bodies.add([&](Process& p) {
    // inline_regs[3]: rounds done; what it waits for is an answer or, every third time, a timeout.
    SWord round = p.inline_regs[3].is_small() ? p.inline_regs[3].small_value() : 0;
    Term message;
    switch (receive_peek(p, &message)) {
      case Peek::kMessage:
        receive_remove(p);
        if (p.receive_timer) receive_timeout(p);
        break;
      case Peek::kEmpty:
        if (p.receive_timer && receive_start_timer(p, Term::small(1)) == TimeoutState::kWait)
          return RunResult::kWaiting;
        if (p.receive_timer) {
          receive_timeout(p);
          ++timeouts;
        } else if (round != 0) {
          return RunResult::kWaiting;
        }
        break;
      default: return finish(p, atoms::error);
    }
    if (round == kRounds) {
      ++ended;
      return finish(p, atoms::normal);
    }
    p.inline_regs[3] = Term::small(round + 1);
    if ((round + static_cast<SWord>(p.id.id_number())) % 7 == 0) {
      const auto until = std::chrono::steady_clock::now() + std::chrono::microseconds(700);
      hold_core_until([&] { return std::chrono::steady_clock::now() > until; });
    }
    if (round % 3 == 0) {
      MUST(receive_start_timer(p, Term::small(1)) == TimeoutState::kWait);
      return RunResult::kWaiting;
    }
    MUST(send_message(p, spawn(&p, echo_body), p.id));
    return RunResult::kWaiting;
  });
  for (int i = 0; i < kWorkers; ++i) spawn(nullptr, worker_body);
  machine.start();
  machine.wait_until_empty();
  REQUIRE(ended == kWorkers);
  REQUIRE(echoes > 0);
}
