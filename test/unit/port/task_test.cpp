// SPDX-License-Identifier: Apache-2.0
// Who runs what happens to a port, and when: threads that queue, schedulers that hold, ports that
// close in between. Drivers of C++ functions.
#include <catch2/catch.hpp>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <thread>
#include <vector>

#include "vm/base/epoch.hpp"
#include "vm/port/driver.hpp"
#include "vm/port/driver_api.hpp"
#include "vm/port/port.hpp"
#include "vm/port/task.hpp"
#include "vm/process/process_table.hpp"
#include "vm/sched/scheduler.hpp"

using namespace vmrun;

namespace {

struct Machine {
  explicit Machine(unsigned schedulers) {
    static const bool once = [] {
      process_table.init(1024);
      port_table.init(1024);
      static ErlDrvEntry entry = own_driver_entry("plain");
      register_driver(&entry);
      return true;
    }();
    (void)once;
    start_schedulers({.schedulers = schedulers});
  }
  ~Machine() { stop_schedulers(); }
};

/// An open port that nobody owns. The test holds a reference: it outlives its closing.
Port& new_port() {
  Port& p = *create_port(*acquire_driver("plain"), Term::pid(1), "plain");
  retain_port(p);
  REQUIRE(port_table.add(p));
  p.state.store(Port::State::kOpen);
  EpochGuard guard;
  release_port(p);
  return p;
}

/// What a sender's tasks have come to.
struct Log {
  std::atomic<int> run{0}, dropped{0}, out_of_order{0};
  std::atomic<bool> inside{false};
  std::vector<int> last;  // number of the last task of each sender; the holder's
};

struct Numbered final : PortTask {
  Numbered(Log& log, int sender, int number) : log(log), sender(sender), number(number) {}
  void run(Port&) override {
    if (log.inside.exchange(true)) std::abort();  // two holders at a time
    if (log.last[sender] >= number) ++log.out_of_order;
    log.last[sender] = number;
    ++log.run;
    log.inside.store(false);
  }
  void drop(Term) override { ++log.dropped; }
  Log& log;
  int sender, number;
};

struct Counted final : PortTask {
  explicit Counted(std::atomic<int>& ended) : ended(ended) {}
  void run(Port&) override { ++ended; }
  void drop(Term) override { ++ended; }
  std::atomic<int>& ended;
};

struct Closing final : PortTask {
  void run(Port& p) override { close_port(p, p.id, atoms::normal); }
};

void send_from_threads(Port& port, Log& log, int senders, int each, int close_after = -1) {
  log.last.assign(static_cast<std::size_t>(senders), -1);
  std::vector<std::thread> threads;
  for (int s = 0; s < senders; ++s)
    threads.emplace_back([&, s] {
      EpochGuard guard;
      for (int i = 0; i < each; ++i) {
        if (s == 0 && i == close_after) queue_task(port, new Closing);
        queue_task(port, new Numbered(log, s, i));
      }
    });
  for (std::thread& t : threads) t.join();
}

void wait_for(const Log& log, int all) {
  while (log.run.load() + log.dropped.load() < all) std::this_thread::yield();
}

void close(Port& p) {
  const Term id = p.id;
  {
    EpochGuard guard;
    queue_task(p, new Closing);
  }
  while (port_table.find(id)) std::this_thread::yield();
}

}  // namespace

TEST_CASE("every task runs once, one at a time, those of a sender in order") {
  Machine machine(3);
  Port& port = new_port();
  Log log;
  send_from_threads(port, log, 4, 20000);
  wait_for(log, 80000);
  CHECK(log.run == 80000);
  CHECK(log.out_of_order == 0);
  close(port);
  release_reference(port);
}

TEST_CASE("tasks of a port that closes run or are dropped, none is lost") {
  for (int round = 0; round < 20; ++round) {
    Machine machine(2);
    Port& port = new_port();
    Log log;
    send_from_threads(port, log, 4, 1000, 500);
    wait_for(log, 4000);
    CHECK(log.run + log.dropped == 4000);
    CHECK(log.out_of_order == 0);
    CHECK(log.dropped >= 500);  // the closer's own later ones, at the least
    CHECK(port.state.load() == Port::State::kClosed);
    CHECK(port_table.find(port.id) == nullptr);
    release_reference(port);
  }
  CHECK(port_table.count() == 0);
}

TEST_CASE("a task for a port that is gone is dropped") {
  Machine machine(1);
  Port& port = new_port();
  const Term id = port.id;
  close(port);
  Log log;
  log.last.assign(1, -1);
  EpochGuard guard;
  queue_task(id, new Numbered(log, 0, 0));
  queue_task(port, new Numbered(log, 0, 1));
  CHECK(log.dropped == 2);
  release_reference(port);
}

TEST_CASE("a port that is gone is not held or queued again") {
  Machine machine(1);
  Port& port = new_port();
  close(port);
  while (port.run.load() == Port::Run::kRunning) std::this_thread::yield();
  EpochGuard guard;
  CHECK(port.run.load() == Port::Run::kGone);
  CHECK(!try_hold_port(port));
  Log log;
  log.last.assign(1, -1);
  queue_task(port, new Numbered(log, 0, 0));
  CHECK(log.dropped == 1);
  CHECK(port.run.load() == Port::Run::kGone);
  release_reference(port);
}

TEST_CASE("who queues a task while its port goes does not bring it back") {
  // Were it made runnable, it would run, or be freed, while it is on two lists.
  Machine machine(2);
  constexpr int kPorts = 1000, kSenders = 3, kUnderWay = 50;
  std::atomic<Word> current{0};
  std::atomic<bool> end{false};
  std::atomic<int> sent{0}, ended{0};
  std::vector<std::thread> senders;
  for (int s = 0; s < kSenders; ++s)
    senders.emplace_back([&] {
      while (!end) {
        // A port's turn is short: it must not be left behind.
        while (sent - ended > kUnderWay && !end) std::this_thread::yield();
        EpochGuard guard;
        const Term id = Term::from_raw(current.load());
        if (!id) continue;
        ++sent;
        queue_task(id, new Counted(ended));
      }
    });
  for (int i = 0; i < kPorts; ++i) {
    Port& port = new_port();
    current = port.id.raw();
    const int before = ended;
    while (ended == before) std::this_thread::yield();
    close(port);
    release_reference(port);
  }
  end = true;
  for (std::thread& t : senders) t.join();
  while (ended < sent) std::this_thread::yield();
  CHECK(ended == sent);
  CHECK(port_table.count() == 0);
}

TEST_CASE("a port is held by one, and what is queued meanwhile runs when it is given back") {
  Machine machine(2);
  Port& port = new_port();
  Log log;
  log.last.assign(1, -1);
  {
    EpochGuard guard;
    while (!try_hold_port(port)) std::this_thread::yield();
    CHECK(!try_hold_port(port));
    queue_task(port, new Numbered(log, 0, 0));
    CHECK(log.run == 0);
    release_port(port);
  }
  wait_for(log, 1);
  CHECK(log.run == 1);
  close(port);
  release_reference(port);
}

TEST_CASE("a full inbox holds senders back until it is nearly empty, and then lets them go") {
  Machine machine(1);
  Port& port = new_port();
  Process& sender = *allocate_process();  // of which only its identifier counts
  {
    EpochGuard guard;
    while (!try_hold_port(port)) std::this_thread::yield();
    set_inbox_full(port, true);
    CHECK(wait_until_not_busy(port, sender));
    CHECK(port.waiters.size() == 1);
    set_inbox_full(port, false);
    CHECK(port.waiters.empty());
    CHECK(!wait_until_not_busy(port, sender));
    set_port_busy(port, true);
    CHECK(wait_until_not_busy(port, sender));
    set_inbox_full(port, true);
    set_port_busy(port, false);
    CHECK(port.waiters.size() == 1);  // still full
    set_inbox_full(port, false);
    CHECK(port.waiters.empty());
    release_port(port);
  }
  recycle_process(&sender);
  close(port);
  release_reference(port);
}

TEST_CASE("the table gives every port a number of its own, and finds it by no other") {
  Machine machine(1);
  std::vector<Port*> ports;
  for (int i = 0; i < 500; ++i) ports.push_back(&new_port());
  CHECK(port_table.count() == 500);
  for (Port* p : ports) CHECK(port_table.find(p->id) == p);
  const Term first = ports[0]->id;
  for (Port* p : ports) close(*p);
  CHECK(port_table.count() == 0);
  CHECK(port_table.find(first) == nullptr);
  for (Port* p : ports) release_reference(*p);
}
