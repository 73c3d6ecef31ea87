// SPDX-License-Identifier: Apache-2.0
#include "probes/erltrace/script_handle.hpp"

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <numeric>
#include <utility>

#include <fmt/format.h>

#include "probes/attach/endpoint.hpp"
#include "probes/attach/firing.hpp"
#include "probes/attach/machine_host.hpp"
#include "probes/attach/tracing_session.hpp"
#include "probes/d/compile.hpp"
#include "probes/d/script/action_table.hpp"
#include "probes/d/script/engine_options.hpp"
#include "probes/engine/trace_clock.hpp"

namespace vmrun::erltrace {

/// The tracing thread's part of a handle. Once closed it stays closed. A session that is not closed
/// when the machine ends is left as it is.
struct Running final : attach::Insider, std::enable_shared_from_this<Running> {
  attach::TracingSession* session = nullptr;  // owned; until everything has been taken from it
  bool gone = false;                          // go has been called
  const char* ended = nullptr;                // the reason: an atom's name

  // Any thread uses these. A thread that opens a session sets has_session and then reads whether
  // the handle is closed. A thread that closes it sets closed and then reads whether there is a
  // session. Both are sequentially consistent, so one of the two sees the other. Therefore a handle
  // without a session needs no tracing thread.
  std::atomic<bool> closed{false};
  std::atomic<bool> has_session{false};  // has a session, or is about to have one

  void go() {
    gone = true;
    d::adjust_clock();
    attach::look_after(shared_from_this());
    session->go();
  }
  void end(const char* why) {
    if (ended) return;
    ended = why;
    attach::leave_alone(*this);
    session->end();
    close_descriptors();
  }
  /// Closes the rings' descriptors, because no other process maps the rings.
  void close_descriptors() {
    for (d::Ring* r : session->session().rings())
      if (const int descriptor = r->give_descriptor(); descriptor >= 0) ::close(descriptor);
  }
  /// exit() ends tracing, and so does a full buffer with bufpolicy=fill.
  void end_if_exiting() {
    int status = 0;
    if (!session || ended || !session->session().exiting(status)) return;
    const auto rings = session->session().rings();
    const bool full = std::ranges::any_of(rings, [](const d::Ring* r) { return r->is_full(); });
    end(full ? "filled" : "exited");
  }
  /// Returns false, and why.
  bool open_session(const d::Program& program, std::string& why) {
    session = attach::TracingSession::open(program, why).release();
    has_session = session != nullptr;
    return session;
  }
  void free_session() {
    attach::leave_alone(*this);
    delete session;
    session = nullptr;
    has_session = false;
  }

  attach::TracingSession& tracing() override { return *session; }
  void tick() override {
    session->tick();
    close_descriptors();
    end_if_exiting();
  }
};

namespace {

const Refusal kDone{};

Refusal because(const char* reason) { return {reason, {}}; }
Refusal in_words(std::string text) { return {nullptr, std::move(text)}; }

/// Runs the job in the tracing thread, unless the handle is closed. When the session has been taken
/// over, that thread has nothing of it, and the job runs here. has_session is read before closed,
/// because closing removes the session too.
template <class Job>
Refusal in_tracing_thread(Running& running, Job job) {
  const bool has_session = running.has_session;
  Refusal refusal = because("closed");
  if (running.closed) return refusal;
  if (!has_session) return job();
  const bool ran = attach::run([&] {
    if (running.closed) return;
    running.end_if_exiting();
    refusal = job();
  });
  return ran ? refusal : because("closed");
}

/// Actions for which a program has no use: its machine is not to run commands, and it has no file.
std::string forbidden_action(const d::Script& script) {
  for (const d::ActionInfo& action : script.actions)
    if (const d::ActionRow* row = d::find_action(action.kind); row && row->only_outside)
      return fmt::format("line {}: {}() is not for programs inside the machine", action.line, row->name);
  return {};
}

std::vector<std::string> names_of_machine(d::NameKind kind, const std::vector<std::uint64_t>& numbers) {
  std::vector<std::string> names;
  for (const std::uint64_t n : numbers)
    names.push_back(kind == d::NameKind::kAtom      ? attach::machine_host().atom_name(n)
                    : kind == d::NameKind::kAddress ? attach::machine_host().address_name(n)
                                                    : attach::function_text(n));
  return names;
}

}  // namespace

Handle::Handle() : texts_(names_of_machine), running_(std::make_shared<Running>()) {}

Handle::~Handle() { close(); }

void Handle::close() {
  running_->closed = true;
  if (running_->has_session) (void)attach::post([running = running_] { running->free_session(); });
}

Refusal Handle::set_option(const std::string& name, const std::string& value) {
  const std::lock_guard guard(mutex_);
  if (script_) return because("already_running");
  std::string why;
  d::Options of_engine;
  const bool is_engines = d::set_option(of_engine, name, value, why);
  if (why.empty() && !options_.set(name, value, why) && !is_engines) why = "Invalid option name";
  if (!why.empty()) return in_words(fmt::format("failed to set option '{}' to '{}': {}", name, value, why));
  given_options_.emplace_back(name, value);
  return kDone;
}

namespace {

bool is_given(const std::vector<std::pair<std::string, std::string>>& options, std::string_view name) {
  return std::ranges::any_of(options, [&](const auto& o) { return o.first == name; });
}

}  // namespace

Refusal Handle::compile(const std::string& text) {
  const std::lock_guard guard(mutex_);
  if (script_) return because("already_running");
  d::CompileOptions options;
  options.probes = &attach::machine_host().probes();
  options.count_functions = [](const d::FunctionPattern& pattern) {
    return attach::machine_host().functions(pattern, 1).size();
  };
  options.options = given_options_;
  options.zero_matches = is_given(given_options_, "zdefs");
  options.empty = is_given(given_options_, "empty");
  options.default_arguments = is_given(given_options_, "defaultargs");
  options.arguments = {"erltrace"};
  options.macros = {{"pid", getpid()}, {"ppid", getppid()}, {"uid", getuid()},   {"euid", geteuid()},
                    {"gid", getgid()}, {"egid", getegid()}, {"target", getpid()}};
  std::vector<d::CompileError> errors;
  auto script = d::compile({{d::Source::Kind::kName, "", text}}, options, errors);
  if (!script) return in_words(to_text(errors.front(), options_.error_tags));
  if (std::string why = forbidden_action(*script); !why.empty()) return in_words(std::move(why));
  for (const auto& [name, value] : script->options)
    if (std::string why; !options_.set(name, value, why) && !why.empty()) return in_words(std::move(why));

  running_->has_session = true;
  Refusal refused = in_tracing_thread(*running_, [&]() -> Refusal {
    std::string why;
    return running_->open_session(script->program, why) ? kDone : in_words(why);
  });
  if (refused) return refused;
  aggregates_ = std::make_unique<d::Aggregates>(*script);
  for (const d::ActionInfo& action : script->actions) formats_.push_back(d::parse_format(action.format));
  script_ = std::move(script);
  return kDone;
}

Refusal Handle::refuse_unless_compiled() const { return script_ ? kDone : because("no_prog"); }

Refusal Handle::go() {
  const std::lock_guard guard(mutex_);
  if (Refusal refusal = refuse_unless_compiled()) return refusal;
  return in_tracing_thread(*running_, [&]() -> Refusal {
    if (running_->ended) return because(running_->ended);
    if (running_->gone) return because("already_running");
    running_->go();
    return kDone;
  });
}

Refusal Handle::stop() {
  const std::lock_guard guard(mutex_);
  if (Refusal refusal = refuse_unless_compiled()) return refusal;
  return in_tracing_thread(*running_, [&]() -> Refusal {
    running_->end("stopped");
    take_over();
    return kDone;
  });
}

// Called in the tracing thread: takes what is in the rings now.
void Handle::fill_streams() {
  d::Session& session = running_->session->session();
  for (d::Ring* ring : session.rings()) {
    const auto is_of_ring = [ring](const auto& s) { return &s->ring() == ring; };
    if (std::ranges::none_of(streams_, is_of_ring))
      streams_.push_back(std::make_unique<d::RecordStream>(*ring));
  }
  for (const auto& stream : streams_)
    if (running_->ended || stream->ring().policy() != d::Options::Policy::kRing) stream->fill();
  for (std::size_t kind = 0; kind < drops_.size(); ++kind)
    drops_[kind] = session.drops(static_cast<d::Drop>(kind));
}

// Called in the tracing thread: returns what has been aggregated since the last time.
std::vector<d::Element> Handle::new_elements() {
  if (!running_->session) return std::exchange(left_elements_, {});
  std::vector<std::uint32_t> all(script_->program.aggregations.size());
  std::iota(all.begin(), all.end(), 0U);
  return running_->session->session().aggregations(all);
}

// Called in the tracing thread: keeps the names of functions, whose numbers are valid only as long
// as the session.
void Handle::remember_functions() {
  for (const auto& stream : streams_)
    stream->look_ahead([this](const d::Record& head, auto) {
      if (d::is_function_probe(head.probe)) texts_.want_function(d::function_of_probe(head.probe));
    });
  texts_.ask();
}

// Called in the tracing thread when tracing has ended: the handle keeps everything that is left.
// The session is freed, because there are only few of them.
void Handle::take_over() {
  if (!running_->ended || !running_->session) return;
  fill_streams();
  remember_functions();
  left_elements_ = new_elements();
  running_->free_session();
}

Refusal Handle::consume(const TakeRecord& take, const TakeDrops& take_drops) {
  const std::lock_guard guard(mutex_);
  if (Refusal refusal = refuse_unless_compiled()) return refusal;
  const char* ended = nullptr;
  std::uint64_t until = ~std::uint64_t{0};
  Refusal refused = in_tracing_thread(*running_, [&]() -> Refusal {
    ended = running_->ended;
    take_over();
    if (ended) return kDone;
    // A record that was fired before is in its ring when all threads that were inside a firing have
    // left it.
    until = d::timestamp();
    attach::wait_for_firings();
    fill_streams();
    return kDone;
  });
  if (refused) return refused;
  bool any = d::merge(streams_, until, [&](d::RecordStream& stream) {
    const d::Record head = stream.head();
    if (std::span<const std::uint64_t> words; stream.pass(words)) take(head, words);
  });
  for (std::size_t kind = 0; kind < drops_.size(); ++kind) {
    if (drops_[kind] <= reported_drops_[kind]) continue;
    take_drops(static_cast<d::Drop>(kind), drops_[kind] - reported_drops_[kind]);
    any = true;
  }
  reported_drops_ = drops_;
  return any || !ended ? kDone : because(ended);
}

void Handle::refresh() {
  std::vector<d::Element> elements;
  (void)in_tracing_thread(*running_, [&]() -> Refusal {
    elements = new_elements();
    return kDone;
  });
  for (const d::Element& element : elements) aggregates_->take(element, texts_);
}

Refusal Handle::walk(std::optional<std::string_view> name, const TakeElement& take) {
  const std::lock_guard guard(mutex_);
  if (Refusal refusal = refuse_unless_compiled()) return refusal;
  const char* ended = nullptr;
  Refusal refused = in_tracing_thread(*running_, [&]() -> Refusal {
    ended = running_->ended;
    take_over();
    return kDone;
  });
  if (refused) return refused;
  refresh();
  bool any = false, known = !name;
  const auto& aggregations = script_->program.aggregations;
  for (std::uint32_t a = 0; a < aggregations.size(); ++a) {
    if (name && aggregations[a].name != *name) continue;
    known = true;
    for (const d::Aggregates::Line& line : aggregates_->lines({a}, options_.tables.sort)) {
      take(*line.key);
      any = true;
    }
    aggregates_->trunc(a, {});
  }
  if (!known) return because("no_aggregation");
  return any || !ended ? kDone : because(ended);
}

}  // namespace vmrun::erltrace
