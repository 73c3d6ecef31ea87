// SPDX-License-Identifier: Apache-2.0
#include "vm/trace/seq_trace.hpp"

#include <algorithm>
#include <mutex>

#include "vm/heap/build.hpp"
#include "vm/heap/copy.hpp"
#include "vm/heap/fragment.hpp"
#include "vm/probes/fire.hpp"
#include "vm/process/process_table.hpp"
#include "vm/term/print.hpp"
#include "vm/trace/trace.hpp"

namespace vmrun {
namespace {

constexpr std::uint32_t kGenerationMask = 0x3FFFFFFF;  // as wide as Fragment::token_generation
std::atomic<std::uint32_t> current_generation{0};

std::uint32_t generation() { return current_generation.load(std::memory_order_acquire) & kGenerationMask; }

/// Returns p's tracing state, up to date; nullptr when it has none.
TraceState* fresh_trace_state(Process& p) {
  TraceState* c = p.extra ? p.extra->trace_state : nullptr;
  if (!c || c->generation == generation()) return c;
  p.observed &= ~kHasToken;
  c->clock = c->lastcnt = 0;
  c->generation = generation();
  return c;
}

TraceState& fresh_trace_state_of(Process& p) {
  trace_state_of(p);
  return *fresh_trace_state(p);
}

// ---- The system tracer --------------------------------------------------------------------------

std::mutex tracer_mutex;
Tracer* system_tracer = nullptr;
std::atomic<bool> tracer_set{false};

/// Returns the system tracer; nullptr: there is none.
KeptTracer tracer_now() {
  if (!tracer_set.load(std::memory_order_acquire)) return KeptTracer(nullptr);
  const std::lock_guard guard(tracer_mutex);
  return KeptTracer(system_tracer ? system_tracer->retain() : nullptr);
}

/// Whether the tracer wants an event. It does not if the probe is not enabled, if the native code
/// refuses, or if the event is the tracer's own.
bool cares(const Tracer& tracer, Term tracee) {
  if (tracer.to == tracee) return false;
  if (tracer.to == atoms::dyntrace) return probe::trace_seq_enabled();
  return !tracer.is_native() || wants_seq_trace(tracer, tracee);
}

void set_tracer(Tracer* to) {
  const std::lock_guard guard(tracer_mutex);
  if (system_tracer) system_tracer->release();
  system_tracer = to;
  tracer_set.store(to != nullptr, std::memory_order_release);
}

/// Called when this tracer has died.
void drop_tracer(const Tracer& dead) {
  const std::lock_guard guard(tracer_mutex);
  if (system_tracer != &dead) return;
  system_tracer->release();
  system_tracer = nullptr;
  tracer_set.store(false, std::memory_order_release);
}

TraceStamp stamp_of(Word flags) {
  if (flags & kSeqNow) return TraceStamp::kNow;
  if (flags & kSeqStrictMonotonic) return TraceStamp::kStrictMonotonic;
  return flags & kSeqMonotonic ? TraceStamp::kMonotonic : TraceStamp::kNone;
}

Term flag_name(Word flag) {
  return flag == kSeqSend ? atoms::send : flag == kSeqReceive ? atoms::receive : atoms::print;
}

/// Reports {seq_trace, Label, {Type, {Previous, Current}, From, To, Message} [, Time]} to the
/// system tracer, if the token's flags want it.
void tell_tracer(const SeqToken& token, Word type, Term tracee, Term to, Term message) {
  if (!(token.flags & type)) return;
  const KeptTracer kept = tracer_now();
  if (!kept.get() || !cares(*kept.get(), tracee)) return;
  const Tracer& tracer = *kept.get();
  Arena arena;
  const Term serials = new_tuple(arena, Term::small(token.lastcnt), Term::small(token.serial));
  const Term info = new_tuple(arena, flag_name(type), serials, token.from, to, message);
  if (tracer.to == atoms::dyntrace) return probe::fire_trace_seq(tracer.state, token.label, info);
  const TraceStamp stamp = stamp_of(token.flags);
  if (tracer.is_native()) return tell_seq_trace(tracer, token.label, info, stamp);
  const Term time = stamp == TraceStamp::kNone ? kNonValue : make_trace_stamp(arena, stamp);
  const Term event = time ? new_tuple(arena, atoms::seq_trace, token.label, info, time)
                          : new_tuple(arena, atoms::seq_trace, token.label, info);
  if (!deliver_trace_event(tracer.to, event)) drop_tracer(tracer);
}

/// Reports that for what p does or receives.
void tell_tracer(Process& p, const SeqToken& token, Word type, Term to, Term message) {
  if (!is_sensitive(p)) tell_tracer(token, type, p.id, to, message);
}

Word token_words(const SeqToken& t) {
  return kTokenWords + copy_size_words(t.label) + copy_size_words(t.from);
}

/// hp: room of token_words.
Term build_token(const SeqToken& t, Term*& hp, OffHeapObject*& off_heap) {
  const Term label = copy_term(t.label, hp, off_heap), from = copy_term(t.from, hp, off_heap);
  return make_tuple(hp, Term::small(static_cast<SWord>(t.flags)), label, Term::small(t.serial), from,
                    Term::small(t.lastcnt));
}

SeqToken read_token(Term tuple) {
  const Term* e = tuple.tuple_elements();
  return {static_cast<Word>(e[0].small_value()), e[1], e[2].small_value(), e[3], e[4].small_value()};
}

/// Returns what comes with a message, without the message's number; nil: nothing.
Term brought(const Fragment& f) {
  if (f.token.is_small()) return Term::nil();
  return f.token.is_list() && f.token.head().is_small() ? f.token.tail() : f.token;
}

/// Returns the token that comes with a message, or nil; the next function does that for a tag.
Term message_token(const Fragment& f) {
  const Term all = brought(f), t = all.is_list() ? all.head() : all;
  return t.is_tuple() && f.token_generation == generation() ? t : Term::nil();
}
Term message_tag(const Fragment& f) {
  const Term all = brought(f), t = all.is_list() ? all.tail() : all;
  return t.is_tuple() ? Term::nil() : t;
}

int saturate(SWord n) { return static_cast<int>(std::clamp<SWord>(n, INT_MIN, INT_MAX)); }

SeqArguments probe_arguments(Term label, SWord previous, SWord current) {
  const bool fits = label.is_small() && label.small_value() >= INT_MIN && label.small_value() <= INT_MAX;
  return {fits ? static_cast<int>(label.small_value()) : INT_MIN, saturate(previous), saturate(current)};
}

}  // namespace

// ---- Tokens of processes ------------------------------------------------------------------------

bool has_seq_token(Process& p) {
  if (!(p.observed & kHasToken)) return false;
  fresh_trace_state(p);
  return p.observed & kHasToken;
}

Term seq_token_term(Process& p, Heap& heap) {
  if (!has_seq_token(p)) return Term::nil();
  const SeqToken& t = p.extra->trace_state->token;
  const Term label = copy_to(heap, t.label), from = copy_to(heap, t.from);
  Term* hp = heap.alloc(kTokenWords);
  return make_tuple(hp, Term::small(static_cast<SWord>(t.flags)), label, Term::small(t.serial), from,
                    Term::small(t.lastcnt));
}

SeqToken& make_seq_token(Process& p) {
  TraceState& c = fresh_trace_state_of(p);
  if (!(p.observed & kHasToken)) {
    c.token = {0, Term::small(0), 0, p.id, c.lastcnt};
    p.observed |= kHasToken;
  }
  return c.token;
}

void drop_seq_token(Process& p) {
  if (!(p.observed & kHasToken)) return;
  p.observed &= ~kHasToken;
  p.extra->trace_state->token = {};
}

void set_seq_counters(Process& p, SWord lastcnt, SWord clock) {
  SeqToken& t = make_seq_token(p);
  TraceState& c = *p.extra->trace_state;
  t.lastcnt = c.lastcnt = lastcnt;
  t.serial = c.clock = clock;
}

void reset_seq_trace() { current_generation.fetch_add(1, std::memory_order_acq_rel); }

bool advance_seq_token(Process& p) {
  if (!has_seq_token(p)) return false;
  const KeptTracer tracer = tracer_now();
  if (tracer.get() && !cares(*tracer.get(), p.id)) return false;
  TraceState& c = *p.extra->trace_state;
  c.token.serial = ++c.clock;
  c.token.lastcnt = c.lastcnt;
  c.token.from = p.id;
  return true;
}

void seq_trace_send(Process& p, Term to, Term message) {
  if (advance_seq_token(p)) tell_tracer(p, p.extra->trace_state->token, kSeqSend, to, message);
}

bool seq_trace_print(Process& p, Term data) {
  if (!has_seq_token(p)) return false;
  if (advance_seq_token(p)) tell_tracer(p, p.extra->trace_state->token, kSeqPrint, Term::nil(), data);
  return true;
}

bool seq_tracer_listens() {
  const KeptTracer tracer = tracer_now();
  return tracer.get() && (tracer.get()->to != atoms::dyntrace || probe::trace_seq_enabled());
}

bool set_seq_tracer(Term to, Term state) {
  if (to == atoms::false_) return set_tracer(nullptr), true;
  const bool is_module = to.is_atom();
  if (!is_module && !to.is_local_pid() && !to.is_local_port()) return false;
  const KeptTracer tracer(Tracer::create(to, state));
  if (!is_there(*tracer.get())) return false;
  set_tracer(tracer.get()->retain());
  return true;
}

Term seq_tracer(Heap& heap) {
  const KeptTracer tracer = tracer_now();
  if (!tracer.get() || !is_there(*tracer.get())) return atoms::false_;
  return tracer_term(tracer.get(), heap);
}

// ---- Along with messages ------------------------------------------------------------------------

Word token_room_words(Process& p) {
  Word words = 0;
  const bool token = has_seq_token(p), tag = p.observed & kTagSpreading;
  if (token) words += token_words(p.extra->trace_state->token);
  if (tag) words += copy_size_words(p.extra->trace_state->tag);
  return words + (token && tag ? 2 : 0) + (token || tag ? 2 : 0);  // the last two for the message's number
}

void attach_token(Process& p, Fragment& f) {
  Term token = Term::nil();
  if (p.observed & kHasToken) {
    const SeqToken& t = p.extra->trace_state->token;
    if (probe::copy_struct_enabled()) [[unlikely]]
      probe::fire_copy_struct(kTokenWords + size_words(t.label) + size_words(t.from));
    Term* hp = f.words + f.used_words;
    token = build_token(t, hp, f.off_heap);
    f.used_words = static_cast<std::uint32_t>(hp - f.words);
    f.token_generation = static_cast<std::uint32_t>(p.extra->trace_state->generation) & kGenerationMask;
  }
  f.token = token;
  if (!(p.observed & kTagSpreading)) return;
  const Term tag = copy_into(f, p.extra->trace_state->tag);
  f.token = tag;
  if (token.is_nil()) return;
  Term* hp = fragment_alloc(f, 2);
  f.token = make_cons(hp, token, tag);
}

bool is_seq_token(Term t) {
  return t.is_tuple() && t.tuple_arity() == 5 && t.element(0).is_small() && t.element(2).is_small() &&
         (t.element(3).is_pid() || t.element(3).is_atom()) && t.element(4).is_small();
}
// The last two for the message's number, as above.
Word token_copy_words(Term token) { return token.is_nil() ? 0 : copy_size_words(token) + 2; }
void attach_token(Term token, Fragment& f) {
  if (token.is_nil()) return;
  f.token = copy_into(f, token);
  f.token_generation = generation();
}

void receive_token(Process& p, Fragment& f) {
  const Term token = message_token(f);
  if (!token.is_nil()) {
    TraceState& c = fresh_trace_state_of(p);
    c.token = read_token(token);
    p.observed |= kHasToken;
    c.lastcnt = c.token.serial;
    c.clock = std::max(c.clock, c.token.serial);
    return tell_tracer(p, c.token, kSeqReceive, p.id, f.message);
  }
  if (f.from_vm) return;
  drop_seq_token(p);
  const Term tag = message_tag(f);
  if (!tag.is_nil()) {
    // It replaces a tag that was borrowed before: a server's work is credited to the process it is
    // done for.
    const bool borrows = !has_own_tag(p);
    set_user_tag(p, borrows ? tag : own_tag(p), (borrows ? 0 : kTagFlagOwn) | kTagFlagSpreading);
  } else if (has_own_tag(p)) {
    p.observed &= ~kTagSpreading;
  } else if (p.observed & kHasTag) {
    set_user_tag(p, Term::nil(), 0);
  }
}

void inherit_seq_token(Process& parent, Process& child, const SpawnEvents& events) {
  if (!has_seq_token(parent)) return;
  const bool counts = advance_seq_token(parent);
  TraceState& from = *parent.extra->trace_state;
  TraceState& to = fresh_trace_state_of(child);
  to.token = from.token;
  to.token.label = copy_to(child.heap, from.token.label);
  to.clock = to.lastcnt = to.token.serial;
  child.observed |= kHasToken;
  if (!counts) return;
  if (events.request) {
    tell_tracer(parent, from.token, kSeqSend, child.id, events.request);
    tell_tracer(child, to.token, kSeqReceive, child.id, events.request);
  }
  to.lastcnt = to.token.lastcnt = from.token.serial;
  to.clock = to.token.serial = from.token.serial + 1;
  to.token.from = child.id;
  if (events.reply) tell_tracer(child, to.token, kSeqSend, parent.id, events.reply);
  if (events.reply_is_message) return;
  from.clock = from.lastcnt = to.clock;
  if (events.reply) tell_tracer(parent, to.token, kSeqReceive, parent.id, events.reply);
}

Term take_seq_token(Process* child, Term here, Term parent, Term token, const SpawnEvents& events,
                    Term arguments, Heap& heap) {
  // The serial is that of the arguments; the request's is one less.
  const SeqToken of_arguments = read_token(token);
  SeqToken of_request = of_arguments, of_answer = of_arguments;
  of_request.serial = of_answer.lastcnt = of_arguments.serial - 1;
  of_answer.from = child ? child->id : here;
  if (events.request) {
    tell_tracer(of_request, kSeqReceive, atoms::undefined, of_answer.from, events.request);
    tell_tracer(of_answer, kSeqSend, atoms::undefined, parent, events.reply);
  }
  if (child) {
    TraceState& c = fresh_trace_state_of(*child);
    c.token = of_arguments;
    c.token.label = copy_to(child->heap, of_arguments.label);
    c.token.from = copy_to(child->heap, of_arguments.from);
    c.clock = c.lastcnt = of_arguments.serial;
    child->observed |= kHasToken;
    if (events.request) tell_tracer(of_arguments, kSeqReceive, child->id, child->id, arguments);
  }
  Term* hp = heap.alloc(kTokenWords);
  return make_tuple(hp, Term::small(static_cast<SWord>(of_answer.flags)), of_answer.label,
                    Term::small(of_answer.serial), of_answer.from, Term::small(of_answer.lastcnt));
}

SeqArguments SeqArguments::of_message(const Fragment& f) {
  if (f.token.is_nil()) [[likely]]
    return {};
  const Term token = message_token(f);
  if (token.is_nil()) return {};
  const Term* e = token.tuple_elements();
  return probe_arguments(e[1], e[4].small_value(), e[2].small_value());
}

SeqArguments SeqArguments::of_process(Process& p) {
  if (!has_seq_token(p)) return {};
  const SeqToken& t = p.extra->trace_state->token;
  return probe_arguments(t.label, t.lastcnt, t.serial);
}

}  // namespace vmrun
