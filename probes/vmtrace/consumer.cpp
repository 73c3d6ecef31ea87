// SPDX-License-Identifier: Apache-2.0
#include "probes/vmtrace/consumer.hpp"

#include <poll.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <utility>

#include "probes/engine/trace_clock.hpp"

namespace vmrun::d {
namespace {

constexpr std::uint64_t kShortestPause = 500'000, kLongestPause = 10'000'000;  // ns
constexpr std::uint64_t kDropsEvery = 1'000'000'000;
// The consumer refreshes this often, so that what a machine has counted is not lost with it.
constexpr std::uint64_t kRefreshEvery = 1'000'000'000;
constexpr std::uint64_t kLongestWait = 1'000'000'000;  // for writing: a signal may come just before the wait

std::atomic<bool> asked_by_signal{false};
std::atomic<unsigned> interruptions{0};
// A signal handler writes these.
static_assert(std::atomic<bool>::is_always_lock_free && std::atomic<unsigned>::is_always_lock_free);

void on_signal(int signal) {
  if (signal == SIGUSR1) asked_by_signal.store(true, std::memory_order_relaxed);
  else interruptions.fetch_add(1, std::memory_order_relaxed);
}

bool is_interrupted() { return interruptions.load(std::memory_order_relaxed) != 0; }

}  // namespace

Consumer::Consumer(std::vector<Traced>& traced, Output& output, Aggregates& aggregates,
                   std::function<void()> asked)
    : traced_(traced), output_(output), aggregates_(aggregates), asked_(std::move(asked)) {}

void Consumer::handle_signals(bool is_asked) {
  struct sigaction action {};
  action.sa_handler = on_signal;  // a signal ends a pause, as SA_RESTART is not set
  sigaction(SIGINT, &action, nullptr);
  sigaction(SIGTERM, &action, nullptr);
  sigaction(SIGHUP, &action, nullptr);
  if (is_asked) sigaction(SIGUSR1, &action, nullptr);
}

void Consumer::find_streams() {
  for (Traced& traced : traced_)
    for (Ring* ring : traced.target->rings()) {
      const auto known = std::find_if(streams_.begin(), streams_.end(),
                                      [ring](const auto& s) { return &s->ring() == ring; });
      if (known != streams_.end()) continue;
      streams_.push_back(std::make_unique<Stream>(*ring, traced));
    }
}

std::uint64_t Consumer::serve(std::uint64_t most_ns) {
  for (Traced& traced : traced_) {
    if (traced.has_left) continue;
    most_ns = std::min(most_ns, traced.target->work(most_ns));
    if (traced.target->gone()) leave(traced);
  }
  return most_ns;
}

void Consumer::leave(Traced& traced) {
  if (std::exchange(traced.has_left, true)) return;
  traced.has_exited = traced.target->gone();
  traced.target->end();
  for (bool more = true; more;) {
    more = false;
    find_streams();
    for (auto& stream : streams_) more |= stream->traced == &traced && stream->fill();
  }
  ask_names(traced);
  aggregates_.take(traced.target->aggregations(), *traced.texts);
  traced.target->release();
}

void Consumer::ask_names(Traced& traced) {
  std::vector<RecordField> some;
  for (auto& stream : streams_) {
    if (stream->traced != &traced) continue;
    stream->look_ahead([&](const Record& head, std::span<const std::uint64_t> words) {
      if (is_function_probe(head.probe)) traced.texts->want_function(function_of_probe(head.probe));
      if ((head.flags & kRecordFault) != 0) return;
      for_each_action(*traced.script, words, some, [&](std::size_t, const auto& fields) {
        for (const RecordField& field : fields) traced.texts->want(field);
      });
    });
  }
  traced.texts->ask();
}

bool Consumer::wait_to_write(int file) {
  for (;;) {
    pollfd output{file, POLLOUT, 0};
    if (poll(&output, 1, 0) > 0) return true;
    const std::uint64_t next = serve(kLongestWait);
    if (const std::uint64_t now = timestamp(); next_refresh_ != 0 && now >= next_refresh_) {
      refresh();  // the machine may be killed before we read on
      learn_atoms();
      next_refresh_ = now + kRefreshEvery;
    }
    if (is_interrupted()) std::ranges::for_each(traced_, [this](Traced& traced) { leave(traced); });
    if (interruptions.load(std::memory_order_relaxed) > 1) return errno = ECANCELED, false;
    pause(next, file);
  }
}

void Consumer::print_next(Stream& stream) {
  const Record head = stream.head();
  stream.cpu = head.cpu;
  const Output::Origin origin{stream.traced->script.get(), &stream.traced->target->probes(),
                              stream.traced->texts.get(), stream.traced->target->pid()};
  std::span<const std::uint64_t> words;
  if (!stream.pass(words)) return;
  words_.assign(words.begin(), words.end());
  output_.record(origin, head, words_);
}

bool Consumer::is_ring_missing() const {
  return std::ranges::any_of(
      streams_, [](const auto& s) { return s->is_ring_missing(s->traced->target->rings_reported()); });
}

bool Consumer::drain(bool last) {
  const std::uint64_t now = timestamp();
  bool any = fill_all(streams_, last ? ~0ULL : now - kSettledNs, [this] { find_streams(); });
  if (!last && is_ring_missing()) return any;
  std::uint64_t until = last ? ~0ULL : streams_.size() < 2 ? now : now - kSettledNs;
  if (!last)
    for (Traced& traced : traced_) until = std::min(until, traced.target->complete_until());
  any |= merge(streams_, until, [this](Stream& stream) { print_next(stream); });
  if (any) output_.flush();
  return any;
}

void Consumer::refresh() {
  for (Traced& traced : traced_) aggregates_.take(traced.target->aggregations(), *traced.texts);
}

/// Rings that keep the newest records are read when the tracing has ended. Their target may have
/// ended too, and then cannot be asked for names.
void Consumer::learn_atoms() {
  for (Traced& traced : traced_)
    if (traced.script->program.options.policy == Options::Policy::kRing)
      for (auto& [number, name] : traced.target->new_atoms())
        traced.texts->learn_atom(number, std::move(name));
}

std::uint64_t Consumer::firings() {
  std::uint64_t n = 0;
  for (Traced& traced : traced_) n += traced.target->firings();
  return n;
}

void Consumer::report_drops(bool last) {
  const std::uint64_t now = timestamp();
  if (now < next_drops_ && !last) return;
  next_drops_ = now + kDropsEvery;
  for (std::size_t i = 0; i < streams_.size(); ++i) {  // more may come while a message is written
    Stream& stream = *streams_[i];
    for (std::size_t kind = 0; kind < static_cast<std::size_t>(Drop::kCount); ++kind) {
      const std::uint64_t n = stream.ring().said_drops(static_cast<Drop>(kind));
      if (n <= stream.reported[kind]) continue;
      output_.drops(static_cast<Drop>(kind), n - std::exchange(stream.reported[kind], n), stream.cpu);
    }
  }
}

void Consumer::report_drops_of_none() {
  for (Traced& traced : traced_)
    for (const Drop kind : {Drop::kPrincipal, Drop::kAggregation, Drop::kFunction}) {
      const std::uint64_t all = traced.target->drops(kind);
      std::uint64_t of_rings = 0;
      for (const Ring* ring : traced.target->rings()) of_rings += ring->said_drops(kind);
      std::uint64_t& reported = traced.reported[static_cast<std::size_t>(kind)];
      if (all <= of_rings + reported) continue;
      output_.drops(kind, all - of_rings - reported, 0);
      reported = all - of_rings;
    }
}

bool Consumer::finished() {
  int status = 0;
  bool all_gone = true;
  for (Traced& traced : traced_) {
    if (traced.target->exiting(status)) return true;
    all_gone &= traced.target->gone();
  }
  const bool full =
      std::any_of(streams_.begin(), streams_.end(), [](const auto& s) { return s->ring().said_full(); });
  return all_gone || full || output_.exit_status() || output_.failed();
}

bool Consumer::is_ended_by_user() {
  std::vector<Presentation::Machine> machines;
  for (Traced& traced : traced_)
    if (!traced.has_left) machines.push_back({traced.target.get(), traced.texts->machine});
  return output_.attend(machines);
}

void Consumer::pause(std::uint64_t ns, int file) {
  std::vector<pollfd> files{{file, POLLOUT, 0}, {output_.keyboard(), POLLIN, 0}};
  for (Traced& traced : traced_)
    if (traced.target->descriptor() >= 0) files.push_back({traced.target->descriptor(), POLLIN, 0});
  const timespec time{static_cast<time_t>(ns / 1'000'000'000), static_cast<long>(ns % 1'000'000'000)};
  ppoll(files.data(), files.size(), &time, nullptr);
}

int Consumer::run() {
  std::uint64_t pause_ns = kShortestPause;
  firings_before_ = firings();
  output_.begin(timestamp());
  for (;;) {
    const std::uint64_t next = serve(pause_ns);
    const bool any = drain(false);
    report_drops(false);
    if (const std::uint64_t now = timestamp(); now >= next_refresh_) {
      if (next_refresh_ != 0) {
        refresh();
        report_drops_of_none();
        if (output_.has_reason_to_end(now, firings() - firings_before_)) break;
      }
      learn_atoms();
      next_refresh_ = now + kRefreshEvery;
    }
    if (is_interrupted()) {
      output_.newline();
      break;
    }
    if (finished() || is_ended_by_user()) break;
    if (asked_by_signal.exchange(false, std::memory_order_relaxed)) {
      asked_();
      break;
    }
    pause_ns = any ? kShortestPause : std::min(pause_ns * 2, kLongestPause);
    if (next != 0) pause(next);
  }
  output_.leave();
  for (Traced& traced : traced_) leave(traced);
  for (Traced& traced : traced_)
    if (traced.has_exited) output_.target_gone(traced.target->pid(), traced.target->is_command());
  drain(true);
  report_drops(true);
  output_.newline();
  output_.unprinted_aggregations();
  report_drops_of_none();
  output_.flush();
  int status = output_.exit_status().value_or(0);
  for (Traced& traced : traced_)
    if (int said = 0; !output_.exit_status() && traced.target->exiting(said)) status = said;
  return output_.failed() ? 1 : status;
}

}  // namespace vmrun::d
