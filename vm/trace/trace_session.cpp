// SPDX-License-Identifier: Apache-2.0
#include "vm/trace/trace_session.hpp"

#include <map>
#include <utility>

#include "vm/heap/build.hpp"
#include "vm/process/flags.hpp"

namespace vmrun {

NewTracees::Count sessions_of_new_processes{0}, sessions_of_new_ports{0};

// ---- The sessions there are ---------------------------------------------------------------------

namespace {

struct Sessions {
  std::mutex mutex;
  std::map<Word, SessionRef> alive;  // by number; without the default session
  Word made = 0;
};
Sessions& sessions() {
  static auto& all = *new Sessions;
  return all;
}

}  // namespace

TraceSession::TraceSession(Word number, Term name, Tracer* tracer)
    : number(number), name(name), tracer(tracer) {}

TraceSession::~TraceSession() {
  if (tracer) tracer->release();
}

Term TraceSession::weak_reference(Heap& out) const {
  static const Term of_default = intern_atom("default");
  return new_tuple(out, name, is_default() ? of_default : Term::small(static_cast<SWord>(number) - 1));
}

const SessionRef& default_session() {
  static const auto& session =
      *new SessionRef(std::make_shared<TraceSession>(0, intern_atom("legacy"), nullptr));
  return session;
}

SessionRef create_session(Term name, Tracer* tracer) {
  Sessions& all = sessions();
  const std::lock_guard guard(all.mutex);
  auto session = std::make_shared<TraceSession>(++all.made, name, tracer);
  all.alive.emplace(session->number, session);
  return session;
}

SessionRef find_session(Word number) {
  if (number == 0) return default_session();
  Sessions& all = sessions();
  const std::lock_guard guard(all.mutex);
  const auto it = all.alive.find(number);
  return it == all.alive.end() ? nullptr : it->second;
}

SessionRef find_session(Term name, Term id) {
  if (!id.is_small() || id.small_value() < 0) return nullptr;
  SessionRef session = find_session(static_cast<Word>(id.small_value()) + 1);
  return session && session->name == name ? session : nullptr;
}

std::vector<SessionRef> all_sessions() {
  Sessions& all = sessions();
  std::vector<SessionRef> out;
  {
    const std::lock_guard guard(all.mutex);
    out.reserve(all.alive.size() + 1);
    out.push_back(default_session());
    for (const auto& [number, session] : all.alive) out.push_back(session);
  }
  return out;
}

bool end_session(TraceSession& session) {
  if (session.is_default() || !session.is_alive.exchange(false, std::memory_order_acq_rel)) return false;
  SessionRef kept;  // freed without the lock
  {
    Sessions& all = sessions();
    const std::lock_guard guard(all.mutex);
    const auto it = all.alive.find(session.number);
    kept = std::move(it->second);
    all.alive.erase(it);
  }
  session.new_processes.set(false, ~0u, nullptr);
  session.new_ports.set(false, ~0u, nullptr);
  return true;
}

std::vector<Term> tracees_of(TraceSession& session) {
  std::vector<Term> tracees;
  const std::lock_guard guard(session.mutex);
  for (const Tracing* t = session.tracings; t; t = t->next_of_session_) tracees.push_back(t->tracee);
  return tracees;
}

// ---- The sessions of one process or port --------------------------------------------------------

Tracing::Tracing(const SessionRef& session, Term tracee) : session(session), tracee(tracee) {
  if (session->is_default()) return;
  const std::lock_guard guard(session->mutex);
  next_of_session_ = session->tracings;
  link_of_session_ = &session->tracings;
  if (next_of_session_) next_of_session_->link_of_session_ = &next_of_session_;
  session->tracings = this;
}

Tracing::~Tracing() {
  if (tracer) tracer->release();
  if (session->is_default()) return;
  const std::lock_guard guard(session->mutex);
  *link_of_session_ = next_of_session_;
  if (next_of_session_) next_of_session_->link_of_session_ = link_of_session_;
}

Tracings::~Tracings() {
  while (first_) delete std::exchange(first_, first_->next);
}

Tracing* Tracings::find(Word session) const {
  Tracing* t = searched_ && searched_->session->number >= session ? searched_ : first_;
  for (; t && t->session->number >= session; t = t->next) {
    searched_ = t;
    if (t->session->number == session) return t;
  }
  return nullptr;
}

Tracing* Tracings::first_older(Word session) const {
  Tracing* t = first_;
  while (t && t->session->number >= session) t = t->next;
  return t;
}

std::uint32_t Tracings::flags() const {
  std::uint32_t all = 0;
  for (const Tracing* t = first_; t; t = t->next) all |= t->flags;
  return all;
}

Tracing& Tracings::make(const SessionRef& session, Term tracee) {
  Tracing** link = &first_;
  while (*link && (*link)->session->number > session->number) link = &(*link)->next;
  if (*link && (*link)->session->number == session->number) return **link;
  auto* made = new Tracing(session, tracee);
  made->next = *link;
  return *(*link = made);
}

void Tracings::remove(Tracing** link) {
  ++changes_;
  searched_ = nullptr;
  delete std::exchange(*link, (*link)->next);
}

void Tracings::drop(Word session) {
  for (Tracing** link = &first_; *link; link = &(*link)->next) {
    if ((*link)->session->number != session) continue;
    remove(link);
    return;
  }
}

void Tracings::drop_ended() {
  for (Tracing** link = &first_; *link;) {
    if ((*link)->session->is_alive.load(std::memory_order_acquire)) {
      link = &(*link)->next;
      continue;
    }
    remove(link);
  }
}

Tracing* Tracings::find_alive(Word session) {
  Tracing* t = find(session);
  if (!t || !t->tracer) return t;
  if (t->session->is_alive.load(std::memory_order_acquire) && is_there(*t->tracer)) return t;
  drop(session);
  return nullptr;
}

bool Tracings::set(const SessionRef& session, Term tracee, bool on, std::uint32_t flags, Tracer* tracer) {
  Tracing* t = find_alive(session->number);
  if (!on) {
    if (t && !(t->flags &= ~flags)) drop(session->number);
    return true;
  }
  if (t && t->tracer && tracer && !t->tracer->same(*tracer)) {
    if (still_traces(*t->tracer, tracee)) return false;
    drop(session->number);
    t = nullptr;
  }
  if (!t) t = &make(session, tracee);
  if (tracer && !t->tracer) t->tracer = tracer->retain();
  t->flags |= flags;
  return true;
}

// ---- New processes and ports --------------------------------------------------------------------

void NewTracees::set_any(bool any) {
  if (any == any_.load(std::memory_order_relaxed)) return;
  any_.store(any, std::memory_order_release);
  if (any) count_.fetch_add(1, std::memory_order_relaxed);
  else count_.fetch_sub(1, std::memory_order_relaxed);
}

void NewTracees::set(bool on, std::uint32_t flags, Tracer* tracer) {
  const std::lock_guard guard(mutex_);
  flags_ = on ? flags_ | flags : flags_ & ~flags;
  if ((on || !flags_) && tracer_) {
    tracer_->release();
    tracer_ = nullptr;
  }
  if (on) tracer_ = tracer->retain();
  set_any(flags_ != 0);
}

KeptTracer NewTracees::get(std::uint32_t* flags) {
  const std::lock_guard guard(mutex_);
  if (tracer_ && !still_traces(*tracer_, atoms::undefined)) {
    tracer_->release();
    tracer_ = nullptr;
    flags_ = 0;
    set_any(false);
  }
  *flags = flags_;
  return KeptTracer(tracer_ ? tracer_->retain() : nullptr);
}

}  // namespace vmrun
