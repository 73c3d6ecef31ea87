#include "probes/vmtrace/reader.hpp"

#include <poll.h>

#include <algorithm>
#include <atomic>
#include <csignal>

#include "probes/engine/clock.hpp"

namespace vmrun::d {
namespace {

constexpr std::uint64_t kShortestPause = 500'000, kLongestPause = 10'000'000;  // ns
constexpr std::uint64_t kDropsEvery = 1'000'000'000;
// So that what a machine has counted is not lost with it.
constexpr std::uint64_t kRefreshEvery = 1'000'000'000;

std::atomic<bool> interrupted{false}, asked_by_signal{false};
static_assert(std::atomic<bool>::is_always_lock_free);  // written by a signal handler

void on_signal(int signal) {
  (signal == SIGUSR1 ? asked_by_signal : interrupted).store(true, std::memory_order_relaxed);
}

}  // namespace

Reader::Reader(std::vector<Traced>& traced, Output& output, Aggregates& aggregates,
               std::function<void()> asked)
    : traced_(traced), output_(output), aggregates_(aggregates), asked_(std::move(asked)) {}

void Reader::handle_signals(bool is_asked) {
  struct sigaction action {};
  action.sa_handler = on_signal;  // without SA_RESTART: a pause ends
  sigaction(SIGINT, &action, nullptr);
  sigaction(SIGTERM, &action, nullptr);
  sigaction(SIGHUP, &action, nullptr);
  if (is_asked) sigaction(SIGUSR1, &action, nullptr);
}

void Reader::find_streams() {
  for (Traced& traced : traced_)
    for (Ring* ring : traced.target->rings()) {
      const auto known = std::find_if(streams_.begin(), streams_.end(),
                                      [ring](const auto& s) { return &s->ring() == ring; });
      if (known != streams_.end()) continue;
      streams_.push_back(std::make_unique<Stream>(*ring, traced, ended_));
    }
}

void Reader::print_next(Stream& stream) {
  const Record head = stream.head();
  stream.cpu = head.cpu;
  const Output::Origin origin{stream.traced->script.get(), &stream.traced->target->probes(),
                              stream.traced->texts.get(), stream.traced->target->pid()};
  if (std::span<const std::uint64_t> words; stream.pass(words)) output_.record(origin, head, words);
}

bool Reader::is_ring_missing() const {
  return std::ranges::any_of(
      streams_, [](const auto& s) { return s->is_ring_missing(s->traced->target->rings_told()); });
}

bool Reader::drain(bool last) {
  ended_ = last;
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

void Reader::refresh() {
  for (Traced& traced : traced_)
    for (const Element& element : traced.target->aggregations()) aggregates_.take(element, *traced.texts);
}

/// Rings that keep the newest are read when the tracing has ended, perhaps with its target: nobody
/// can be asked for names then.
void Reader::learn_atoms() {
  for (Traced& traced : traced_)
    if (traced.script->program.options.policy == Options::Policy::kRing)
      for (auto& [number, name] : traced.target->new_atoms())
        traced.texts->learn_atom(number, std::move(name));
}

std::uint64_t Reader::firings() {
  std::uint64_t n = 0;
  for (Traced& traced : traced_) n += traced.target->firings();
  return n;
}

void Reader::report_drops(bool last) {
  const std::uint64_t now = timestamp();
  if (now < next_drops_ && !last) return;
  next_drops_ = now + kDropsEvery;
  for (auto& stream : streams_)
    for (std::size_t kind = 0; kind < static_cast<std::size_t>(Drop::kCount); ++kind) {
      const std::uint64_t n = stream->ring().said_drops(static_cast<Drop>(kind));
      if (n <= stream->reported[kind]) continue;
      output_.drops(static_cast<Drop>(kind), n - stream->reported[kind], stream->cpu);
      stream->reported[kind] = n;
    }
}

void Reader::report_drops_of_none() {
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

bool Reader::finished() {
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

void Reader::pause(std::uint64_t ns) {
  std::vector<pollfd> files;
  for (Traced& traced : traced_)
    if (traced.target->descriptor() >= 0) files.push_back({traced.target->descriptor(), POLLIN, 0});
  const timespec time{static_cast<time_t>(ns / 1'000'000'000), static_cast<long>(ns % 1'000'000'000)};
  ppoll(files.data(), files.size(), &time, nullptr);
}

int Reader::run() {
  std::uint64_t pause_ns = kShortestPause;
  firings_before_ = firings();
  output_.begin(timestamp());
  for (;;) {
    std::uint64_t next = pause_ns;
    for (Traced& traced : traced_) next = std::min(next, traced.target->work(pause_ns));
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
    if (finished()) break;
    if (asked_by_signal.exchange(false, std::memory_order_relaxed)) {
      asked_();
      break;
    }
    if (interrupted.load(std::memory_order_relaxed)) {
      output_.newline();
      break;
    }
    pause_ns = any ? kShortestPause : std::min(pause_ns * 2, kLongestPause);
    if (next != 0) pause(next);
  }
  for (Traced& traced : traced_) {
    if (traced.target->gone()) output_.target_gone(traced.target->pid(), traced.target->is_command());
    traced.target->end();
  }
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
