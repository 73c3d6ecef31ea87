// SPDX-License-Identifier: Apache-2.0
// A session. The state of a thread is made at its first firing and found again through a slot of
// the thread. Each session has a number as long as it lives, and a generation. The generation shows
// when a slot still holds the state of an earlier session with the same number.
#include "probes/engine/session.hpp"

#include <sched.h>

#include <algorithm>
#include <mutex>
#include <utility>

#include "probes/engine/counting.hpp"
#include "probes/engine/state.hpp"
#include "probes/engine/trace_clock.hpp"

namespace vmrun::d {

namespace {

constexpr unsigned kSlots = 64;  // the most sessions at once
constexpr std::uint32_t kMostThreads = 1024;
constexpr std::uint32_t kTryAgainAfter = 1024;  // firings that a thread has lost

struct Slot {
  std::uint64_t generation = 0;
  Thread* thread = nullptr;
  std::uint32_t lost = 0;
};
constinit thread_local Slot slots[kSlots];

std::mutex numbers_lock;
std::uint64_t numbers_taken = 0;  // one bit for each number
std::uint64_t last_generation = 0;

bool take_number(unsigned& number, std::uint64_t& generation) {
  const std::lock_guard guard(numbers_lock);
  if (~numbers_taken == 0) return false;
  number = static_cast<unsigned>(std::countr_one(numbers_taken));
  numbers_taken |= std::uint64_t{1} << number;
  generation = ++last_generation;
  return true;
}
void give_number_back(unsigned number) {
  const std::lock_guard guard(numbers_lock);
  numbers_taken &= ~(std::uint64_t{1} << number);
}

class RunningSession final : public Session {
 public:
  RunningSession(Program program, Host& host) : shared_(std::move(program), host) {}
  ~RunningSession() override;
  bool open(std::string& why);

  bool begin() override;
  void end() override;
  std::uint64_t next_tick() override;
  void tick() override;
  void fire(const Firing& f) override;
  void lose(std::uint64_t firings) override { lost_.fetch_add(firings, std::memory_order_relaxed); }
  void forget_self(std::uint64_t key) override { shared_.dynamic.forget_self(key); }
  std::vector<Ring*> rings() override;
  std::vector<Element> aggregations(const std::vector<std::uint32_t>& clear) override;
  std::uint64_t drops(Drop kind) override;
  bool exiting(int& status) override;

 private:
  struct Hit {
    const Instruction* predicate;  // nullptr: the clause has no predicate
    const Instruction* body;
    bool makes_record;
    std::uint16_t number;
    std::uint32_t filter;  // the host's number, for named functions; 0: none
  };
  struct Hits {
    const Hit* first;
    const Hit* last;
  };

  std::size_t index(std::uint32_t probe) const;
  const Program& program() const { return shared_.program; }
  Thread* thread();
  Thread* make_thread();
  void fire_now(const Firing& f, Phase phase);
  void run_hits(Thread& t, const Firing& f, const Hits& hits, Phase phase);
  void run_clause(Thread& t, const Firing& f, const Hit& hit);
  void put_record(Thread& t, const Firing& f, const Hit& hit, std::uint16_t flags);
  void tell_fault(Thread& t, const Firing& f, const Hit& hit);
  bool run_parts(Thread& t, const Firing& f, const Hit& hit);
  void stop_when_full(Thread& t);
  void enable();
  void disable();
  void start_timers();
  void stop_sampling();
  bool find_clauses(std::string& why);
  bool count_where_that_is_all();
  bool effect_at(std::uint32_t probe, Rehearsal& rehearsal, std::vector<Element>& effect);
  void take_in_counts();
  void stop_counting();
  void collect();

  Shared shared_;
  std::unique_ptr<AggregationMaster> master_;
  unsigned number_ = kSlots;
  std::uint64_t generation_ = 0;
  std::vector<std::vector<Hit>> clauses_;  // by index(probe)
  std::vector<Hits> hits_;                 // the same, as firings read them
  std::size_t listed_ = 0;                 // the host's probes; the session's own and the functions follow
  std::vector<std::uint32_t> filters_;     // of named functions, by the host's numbers
  std::vector<std::uint32_t> enabled_;     // the host's probes
  // Probes of which the host only says how often they have fired. For each there is what one firing
  // takes in, and the count up to which that has been done.
  std::vector<std::uint32_t> counted_;
  std::vector<std::vector<Element>> effects_;
  std::vector<std::uint64_t> counts_;
  bool counting_ = false;
  std::vector<std::uint64_t> next_of_timers_;  // when each is due; ~0: the host fires it
  std::vector<bool> sampled_;                  // sampled by the host, in all threads
  bool samples_ = false;                       // whether any is sampled
  std::atomic<Thread*> threads_{nullptr};      // only grows, until the session is freed
  std::atomic<std::uint32_t> thread_count_{0}, last_thread_{0}, ring_count_{0};
  std::atomic<std::uint64_t> lost_{0};  // firings of threads for which there was no memory
  std::uint64_t lost_elements_ = 0;     // elements for which the master had no room
  bool are_enabled_ = false;
};

std::size_t RunningSession::index(std::uint32_t probe) const {
  if (probe < listed_) return probe;
  if (is_function_probe(probe) || is_any_function_probe(probe))
    return clauses_.size() - kFunctionEvents + static_cast<unsigned>(event_of_probe(probe));
  if (probe >= kBeginProbe) return listed_ + (probe - kBeginProbe);
  return probe >= kFirstTimerProbe ? listed_ + 3 + (probe - kFirstTimerProbe) : ~std::size_t{0};
}

bool RunningSession::open(std::string& why) {
  listed_ = shared_.host.probes().size();
  if (!verify(shared_.program, listed_, why)) return false;
  if (!take_number(number_, generation_)) return why = "too many sessions", false;
  adjust_clock();
  shared_.describe_process();
  master_ = std::make_unique<AggregationMaster>(
      program().aggregations,
      std::min<std::size_t>(16 * program().options.aggsize, Bounds::kAggregatedBytes));
  if (!shared_.open_variables()) return why = "no memory", false;
  clauses_.resize(listed_ + shared_.own_probes.size() + kFunctionEvents);
  if (!find_clauses(why)) return false;
  if (!count_where_that_is_all()) return why = "no memory", false;
  for (const auto& of_probe : clauses_) hits_.push_back({of_probe.data(), of_probe.data() + of_probe.size()});
  return true;
}

// Finds out which clauses wait for which probe.
bool RunningSession::find_clauses(std::string& why) {
  for (std::size_t i = 0; i < program().clauses.size(); ++i) {
    const Clause& clause = program().clauses[i];
    for (const Enabled& e : clause.probes) {
      std::uint32_t filter = 0;
      if (is_any_function_probe(e.probe)) {
        filter = shared_.host.add_functions({e.module, e.function, e.arity}, event_of_probe(e.probe), why);
        if (filter == 0) return false;
        filters_.push_back(filter);
      } else if (e.probe < kFirstTimerProbe) {
        enabled_.push_back(e.probe);
      }
      auto& hits = clauses_[index(e.probe)];
      // A clause runs once at a probe, even if several of its descriptions name the probe.
      const bool again =
          filter == 0 && std::any_of(hits.begin(), hits.end(), [&](const Hit& h) { return h.number == i; });
      if (again) continue;
      auto code = [](const std::vector<Instruction>& c) { return c.empty() ? nullptr : c.data(); };
      hits.push_back({code(clause.predicate), code(clause.body), clause.makes_record,
                      static_cast<std::uint16_t>(i), filter});
    }
  }
  std::sort(enabled_.begin(), enabled_.end());
  enabled_.erase(std::unique(enabled_.begin(), enabled_.end()), enabled_.end());
  return true;
}

// Returns false when a clause there needs more than the fact that the probe has fired.
bool RunningSession::effect_at(std::uint32_t probe, Rehearsal& rehearsal, std::vector<Element>& effect) {
  return std::ranges::all_of(clauses_[index(probe)], [&](const Hit& hit) {
    const Clause& clause = program().clauses[hit.number];
    return hit.filter == 0 && only_counts(clause) && rehearsal.run(clause, probe, effect);
  });
}

bool RunningSession::count_where_that_is_all() {
  if (!shared_.host.counts_firings() || !can_count_later(program()) ||
      std::ranges::none_of(program().clauses, only_counts))
    return true;
  Rehearsal rehearsal(shared_);
  if (!rehearsal.open()) return false;
  std::erase_if(enabled_, [&](std::uint32_t probe) {
    std::vector<Element> effect;
    if (probe >= listed_ || !effect_at(probe, rehearsal, effect)) return false;
    clauses_[probe].clear();
    counted_.push_back(probe);
    effects_.push_back(std::move(effect));
    return true;
  });
  counts_.resize(counted_.size());
  return true;
}

void RunningSession::take_in_counts() {
  if (!counting_) return;
  std::vector<std::uint64_t> now(counted_.size());
  shared_.host.read_counts(counted_, now);
  for (std::size_t i = 0; i < now.size(); ++i) {
    const auto times = now[i] - std::exchange(counts_[i], now[i]);
    if (times == 0) continue;
    for (const Element& e : effects_[i])
      lost_elements_ += !master_->merge(e.aggregation, e.key, e.values.data(), times);
  }
}

void RunningSession::stop_counting() {
  take_in_counts();
  if (!std::exchange(counting_, false)) return;
  for (const auto probe : counted_) shared_.host.disable_count(probe);
}

RunningSession::~RunningSession() {
  disable();
  shared_.host.wait_for_firings();
  shared_.host.remove_functions(filters_);
  for (Thread* t = threads_.load(std::memory_order_acquire); t != nullptr;) {
    Thread* next = t->next;
    delete t;
    t = next;
  }
  if (number_ < kSlots) give_number_back(number_);
}

void RunningSession::enable() {
  for (const auto probe : enabled_) shared_.host.enable(probe);
  shared_.host.enable_functions(filters_, true);
  are_enabled_ = true;
  for (const auto probe : counted_) shared_.host.enable_count(probe);
  shared_.host.read_counts(counted_, counts_);
  counting_ = true;
}

void RunningSession::disable() {
  stop_sampling();  // comes first, because it fires the samples that are left
  shared_.phase.store(Phase::kEnded, std::memory_order_release);
  stop_counting();
  if (!are_enabled_) return;
  for (const auto probe : enabled_) shared_.host.disable(probe);
  shared_.host.enable_functions(filters_, false);
  are_enabled_ = false;
}

bool RunningSession::begin() {
  shared_.phase.store(Phase::kBeginning, std::memory_order_release);
  fire_now({kBeginProbe, 0, nullptr, nullptr}, Phase::kBeginning);
  if (shared_.phase.load(std::memory_order_acquire) != Phase::kBeginning) return false;
  enable();
  auto expected = Phase::kBeginning;
  const bool runs =
      shared_.phase.compare_exchange_strong(expected, Phase::kRunning, std::memory_order_acq_rel);
  if (runs) shared_.host.start_functions(filters_);
  start_timers();
  return runs;
}

void RunningSession::start_timers() {
  const auto now = timestamp();
  for (std::size_t i = 0; i < program().timers.size(); ++i) {
    const Timer& t = program().timers[i];
    const auto probe = kFirstTimerProbe + static_cast<std::uint32_t>(i);
    const bool sampled = t.profile && shared_.host.start_sampling(*this, probe, t.interval_ns, t.wall);
    samples_ |= sampled;
    sampled_.push_back(sampled);
    next_of_timers_.push_back(sampled && !t.wall ? ~std::uint64_t{0} : now + t.interval_ns);
  }
}

void RunningSession::stop_sampling() {
  if (std::exchange(samples_, false)) shared_.host.stop_sampling(*this);
}

void RunningSession::end() {
  if (shared_.phase.load(std::memory_order_acquire) == Phase::kEnded) return;
  disable();
  shared_.host.wait_for_firings();
  shared_.phase.store(Phase::kEnding, std::memory_order_release);
  fire_now({kEndProbe, 0, nullptr, nullptr}, Phase::kEnding);
  shared_.phase.store(Phase::kEnded, std::memory_order_release);
}

std::uint64_t RunningSession::next_tick() {
  if (next_of_timers_.empty() || shared_.phase.load(std::memory_order_acquire) != Phase::kRunning) return 0;
  return *std::min_element(next_of_timers_.begin(), next_of_timers_.end());
}

void RunningSession::tick() {
  adjust_clock();
  const auto now = timestamp();
  if (samples_)
    shared_.host.look_after_samples(
        std::ranges::any_of(next_of_timers_, [now](auto at) { return at <= now; }));
  for (std::size_t i = 0; i < next_of_timers_.size(); ++i) {
    if (next_of_timers_[i] > now) continue;
    const Timer& timer = program().timers[i];
    // Missed ticks are not made up for; missed samples are.
    const auto times = (now - next_of_timers_[i]) / timer.interval_ns + 1;
    next_of_timers_[i] += timer.interval_ns * times;
    const auto probe = kFirstTimerProbe + static_cast<std::uint32_t>(i);
    if (sampled_[i]) shared_.host.sample_wall(*this, probe, static_cast<std::uint32_t>(times));
    else fire({probe, 0, nullptr, nullptr});
  }
  if (shared_.phase.load(std::memory_order_acquire) != Phase::kRunning) stop_counting();  // exit()
  shared_.dynamic.sweep();
}

Thread* RunningSession::make_thread() {
  const auto count = thread_count_.fetch_add(1, std::memory_order_relaxed);
  auto made = count < kMostThreads ? std::make_unique<Thread>(shared_) : nullptr;
  if (made == nullptr || !made->open(last_thread_.fetch_add(1, std::memory_order_relaxed))) {
    thread_count_.fetch_sub(1, std::memory_order_relaxed);
    return nullptr;
  }
  Thread* t = made.release();
  ring_count_.fetch_add(1, std::memory_order_relaxed);
  t->next = threads_.load(std::memory_order_relaxed);
  // The exchange releases what was made, and the count. It pairs with the controlling thread's
  // loads and with this same operation of other threads: of two threads, the later one has counted
  // both.
  while (!threads_.compare_exchange_weak(t->next, t, std::memory_order_acq_rel, std::memory_order_relaxed)) {}
  // A consumer that reads a record caused by this thread's first one then knows that there is
  // another ring.
  for (Thread* other = t; other != nullptr; other = other->next)
    other->ring->announce(ring_count_.load(std::memory_order_relaxed));
  return t;
}

Thread* RunningSession::thread() {
  Slot& slot = slots[number_];
  if (slot.generation != generation_) [[unlikely]]
    slot = {generation_, make_thread(), 0};
  return slot.thread;
}

void RunningSession::fire(const Firing& f) {
  const Phase phase = shared_.phase.load(std::memory_order_acquire);
  if (phase == Phase::kRunning) fire_now(f, phase);
}

void RunningSession::fire_now(const Firing& f, Phase phase) {
  const std::size_t at = index(f.probe);
  if (at >= hits_.size() || hits_[at].first == hits_[at].last) return;
  Thread* t = thread();
  if (t == nullptr) [[unlikely]] {
    lost_.fetch_add(1, std::memory_order_relaxed);
    // Memory or descriptors may have run out for a moment only.
    if (Slot& slot = slots[number_]; ++slot.lost == kTryAgainAfter) slot.generation = 0;
    return;
  }
  if (t->inside) return;
  t->inside = true;
  t->now = 0;
  t->fuel = Thread::kFuel;
  t->has_token = false;
  t->current = t->table.load(std::memory_order_acquire);  // the controlling thread left it empty
  if (program().frame_bytes != 0)
    std::fill_n(t->memory.at(address(Segment::kFrame, 0), program().frame_bytes), program().frame_bytes,
                '\0');
  run_hits(*t, f, hits_[at], phase);
  t->inside = false;
}

void RunningSession::run_hits(Thread& t, const Firing& f, const Hits& hits, Phase phase) {
  const Hit* ran = nullptr;
  for (const Hit* hit = hits.first; hit != hits.last; ++hit) {
    if (hit->filter != 0) {
      // The patterns of one clause stand side by side. The clause runs for one of them only.
      if (ran != nullptr && ran->number == hit->number) continue;
      if (!shared_.host.function_passes(hit->filter, f)) continue;
      ran = hit;
    }
    run_clause(t, f, *hit);
    if (shared_.phase.load(std::memory_order_relaxed) != phase) return;  // exit()
  }
}

// Returns false at a fault, and true also when the predicate was false.
bool RunningSession::run_parts(Thread& t, const Firing& f, const Hit& hit) {
  std::uint64_t value = 1;
  if (hit.predicate != nullptr && !run(t, hit.predicate, f, value)) return false;
  if (value == 0) {
    t.record_words = 0;
    return true;
  }
  t.action = 1;  // applies until the clause's first action begins
  return hit.body == nullptr || run(t, hit.body, f, value);
}

void RunningSession::run_clause(Thread& t, const Firing& f, const Hit& hit) {
  t.memory.release_all();
  t.key_words = 1;
  t.record_words = sizeof(Record) / 8;
  t.record_overflow = t.redirected = false;
  t.action = 0;
  t.clause = hit.number;
  if (!run_parts(t, f, hit)) [[unlikely]] {
    tell_fault(t, f, hit);
    return;
  }
  if (hit.makes_record && t.record_words != 0) put_record(t, f, hit, 0);
}

void RunningSession::put_record(Thread& t, const Firing& f, const Hit& hit, std::uint16_t flags) {
  if (t.record_overflow) {
    t.ring->drop(Drop::kPrincipal);
    return;
  }
  const auto cpu = shared_.host.builtin_number(static_cast<unsigned>(Builtin::kCpu), f);
  *reinterpret_cast<Record*>(t.record) = {static_cast<std::uint32_t>(t.record_words * 8),
                                          hit.number,
                                          flags,
                                          t.timestamp(),
                                          f.probe,
                                          static_cast<std::uint32_t>(cpu)};
  if (!t.redirected) {
    if (!t.ring->put(t.record, t.record_words)) stop_when_full(t);
    return;
  }
  switch (shared_.speculations.add(t.speculation, t.record, t.record_words)) {
    case Speculations::Result::kFull: t.ring->drop(Drop::kSpeculation); break;
    case Speculations::Result::kBusy: t.ring->drop(Drop::kSpeculationBusy); break;
    default: break;
  }
}

// With policy fill, tracing ends with the first record that does not fit.
void RunningSession::stop_when_full(Thread& t) {
  if (!t.ring->is_full()) return;
  auto running = Phase::kRunning;
  if (shared_.phase.compare_exchange_strong(running, Phase::kStopped, std::memory_order_acq_rel))
    shared_.exiting.store(true, std::memory_order_release);
}

// The fault takes the place of the clause's record. Then ERROR fires, unless this is a clause of
// ERROR.
void RunningSession::tell_fault(Thread& t, const Firing& f, const Hit& hit) {
  const Fault fault{hit.number, t.action_in_clause(), t.fault.offset, t.fault.kind, t.fault.address};
  t.record_overflow = t.redirected = false;
  std::memcpy(t.record + sizeof(Record) / 8, &fault, sizeof fault);
  t.record_words = (sizeof(Record) + sizeof fault) / 8;
  put_record(t, f, hit, kRecordFault);
  if (f.probe == kErrorProbe) return;
  // The words from arg1 on are dtrace's: epid, action, offset, kind, address.
  const std::uint64_t words[] = {
      0, epid(hit.number), fault.action, fault.offset, static_cast<std::uint64_t>(fault.kind), fault.address};
  static constexpr ArgumentKind kinds[] = {ArgumentKind::kInt64, ArgumentKind::kInt64, ArgumentKind::kInt64,
                                           ArgumentKind::kInt64, ArgumentKind::kInt64, ArgumentKind::kInt64};
  run_hits(t, {kErrorProbe, 6, words, kinds}, hits_[index(kErrorProbe)],
           shared_.phase.load(std::memory_order_relaxed));
}

std::vector<Ring*> RunningSession::rings() {
  std::vector<Ring*> all;
  for (Thread* t = threads_.load(std::memory_order_acquire); t != nullptr; t = t->next)
    all.push_back(t->ring.get());
  std::reverse(all.begin(), all.end());  // new ones come last
  return all;
}

// Gives each thread its empty table. When no firing uses the other tables any more, they are added
// up and cleared.
void RunningSession::collect() {
  if (program().aggregations.empty()) return;
  std::vector<AggregationTable*> old;
  for (Thread* t = threads_.load(std::memory_order_acquire); t != nullptr; t = t->next) {
    AggregationTable* used = t->table.load(std::memory_order_relaxed);
    // The store releases the cleared table to the firing thread.
    t->table.store(used == &t->tables[0] ? &t->tables[1] : &t->tables[0], std::memory_order_release);
    old.push_back(used);
  }
  take_in_counts();
  shared_.host.wait_for_firings();
  for (AggregationTable* table : old) {
    lost_elements_ += master_->merge(*table);
    table->clear();
  }
}

std::vector<Element> RunningSession::aggregations(const std::vector<std::uint32_t>& clear) {
  adjust_clock();
  shared_.dynamic.sweep();
  collect();
  std::vector<Element> all;
  master_->walk([&](std::uint32_t number, const std::string& key, const std::vector<std::uint64_t>& values) {
    all.push_back({number, key, values});
  });
  for (const auto number : clear)
    if (number < program().aggregations.size()) master_->clear(number);
  return all;
}

std::uint64_t RunningSession::drops(Drop kind) {
  std::uint64_t sum = kind == Drop::kPrincipal ? lost_.load(std::memory_order_relaxed) : 0;
  if (kind == Drop::kAggregation) sum += lost_elements_;
  if (kind == Drop::kFunction) sum += shared_.host.untraced_functions(filters_);
  for (Ring* ring : rings()) sum += ring->drops(kind);
  return sum;
}

bool RunningSession::exiting(int& status) {
  if (!shared_.exiting.load(std::memory_order_acquire)) return false;
  status = static_cast<int>(shared_.exit_status.load(std::memory_order_acquire));
  return true;
}

}  // namespace

std::unique_ptr<Session> Session::open(Program program, Host& host, std::string& why) {
  auto session = std::make_unique<RunningSession>(std::move(program), host);
  if (!session->open(why)) return nullptr;
  return session;
}

}  // namespace vmrun::d
