// SPDX-License-Identifier: Apache-2.0
#include "vm/code/exceptions.hpp"
#include "vm/code/function_probes.hpp"
#include "vm/trace/call_trace.hpp"
#include "vm/trace/calls_under_way.hpp"
#include "vm/trace/trace.hpp"

#include <algorithm>
#include <iterator>
#include <unordered_map>
#include <vector>

#include "vm/code/module.hpp"
#include "vm/heap/literal.hpp"
#include "vm/heap/text.hpp"
#include "vm/process/code_view.hpp"
#include "vm/term/bits.hpp"
#include "vm/term/map.hpp"

namespace vmrun {

std::atomic<unsigned> backtrace_depth{8};

namespace {

const Term kClassAtoms[] = {atoms::error, atoms::exit, atoms::throw_};

/// The first limb of a captured trace holds the class, and above it newest_code() at the time of
/// the capture.
constexpr unsigned kTraceVersionShift = 32;
ExceptionClass class_in(Word limb) { return static_cast<ExceptionClass>(limb & 0xFF); }

bool is_raw(Term trace) { return trace.is_list() && trace.tail().is_big(); }

/// Return addresses are the words on a stack with a header's tag. One that equals the one before,
/// or `previous`, is left out.
unsigned stack_addresses(const Process& p, const Word* innermost, Word* out, unsigned most,
                         const Word* previous = nullptr) {
  unsigned n = 0;
  if (innermost && n < most) out[n++] = reinterpret_cast<Word>(innermost);
  for (const Term* s = p.heap.stop; s < p.heap.end && n < most; s++) {
    if (!is_return_address(*s)) continue;
    const auto* address = reinterpret_cast<const Word*>(s->raw());
    if (address == previous) continue;
    previous = address;
    out[n++] = s->raw() - 1;  // inside the call instruction; the odd address marks a caller
  }
  return n;
}

/// previous: see stack_addresses.
Term capture(Process& p, const Word* ip, const Word* previous) {
  const Term head = p.exception_trace.is_tuple() ? p.exception_trace : Term::nil();
  const unsigned most = std::max(1u, backtrace_depth.load(std::memory_order_relaxed));
  Term* const cell = p.heap.alloc(2 + 3 + most);
  Term* const big = cell + 2;
  const unsigned n = stack_addresses(p, ip, reinterpret_cast<Word*>(big + 2), most, previous);
  big[0] = Term::header(Term::Sub::kPosBig, n + 2);
  big[1] = Term::from_raw(static_cast<Word>(p.exception_class) | Word{newest_code()} << kTraceVersionShift);
  big[n + 2] = Term::from_raw(~Word{0});
  p.heap.give_back(big + n + 3, big + most + 3);
  Term* hp = cell;
  return make_cons(hp, head, Term::boxed(big));
}

/// Returns [{file,_},{line,_} | more]. What is not known is left out.
Term location_term(Heap& heap, const Word* address, Term more) {
  static const Term file = intern_atom("file"), line = intern_atom("line");
  const SourceLocation where = location_at(address);
  if (!where.file || where.line == 0) return more;
  const Term name = code_point_list(heap, *where.file);
  Term* hp = heap.alloc(10);
  const Term f = make_tuple(hp, file, name), l = make_tuple(hp, line, Term::small(where.line));
  const Term rest = make_cons(hp, l, more);
  return make_cons(hp, f, rest);
}

Term frame_term(Heap& heap, const Word* address, Term arguments, Term info) {
  static const Term error_info = intern_atom("error_info");
  const FunctionHeader* f = function_header_at(address);
  if (!f) return kNonValue;
  Term* hp = heap.alloc(10);
  Term more = Term::nil();
  if (info.is_value()) {
    const Term pair = make_tuple(hp, error_info, info);
    more = make_cons(hp, pair, more);
  }
  const Term location = location_term(heap, address, more);
  return make_tuple(hp, f->module, f->function, arguments.is_value() ? arguments : Term::small(f->arity),
                    location);
}

Term list_of(Heap& heap, const Term* terms, std::size_t n) {
  Term list = Term::nil();
  Term* hp = heap.alloc(2 * n);
  for (std::size_t i = n; i-- > 0;) list = make_cons(hp, settled(heap, terms[i]), list);
  return list;
}

Term frames_term(Heap& heap, Term head, const Word* addresses, unsigned n, std::uint32_t version) {
  Term frames[kMaxBacktraceDepth + 1];
  unsigned count = 0;
  const unsigned most = std::max(1u, backtrace_depth.load(std::memory_order_relaxed));
  Term arguments, info;
  if (head.is_tuple() && head.tuple_arity() == 4) {
    frames[count++] = head;
  } else if (head.is_tuple()) {
    if (head.element(0) != atoms::none) arguments = head.element(0);
    if (head.tuple_arity() == 2) info = head.element(1);
  }
  for (unsigned i = 0; i < n && count < most; i++) {
    // callers: the last word of the call
    const auto* address = reinterpret_cast<const Word*>(addresses[i] & ~Word{7});
    // Where code has been purged meanwhile, other code may lie.
    const Module* m = module_at(address);
    const Term frame = m && m->version > version ? kNonValue : frame_term(heap, address, arguments, info);
    arguments = info = kNonValue;
    if (frame.is_value()) frames[count++] = frame;
  }
  return list_of(heap, frames, count);
}

ExceptionClass class_of(Term atom, bool* known) {
  *known = true;
  for (unsigned i = 0; i < 3; i++)
    if (kClassAtoms[i] == atom) return static_cast<ExceptionClass>(i);
  *known = false;
  return ExceptionClass::kError;
}

void keep_trace(Process& p, ExceptionClass cls, Term value, Term trace) {
  raise(p, cls, value);
  p.exception_trace = trace;
}

}  // namespace

Term stack_frames(Process& p, Heap& out, unsigned depth) { return stack_frames_from(p, p.ip, out, depth); }

Term stack_frames_from(Process& p, const Word* innermost, Heap& out, unsigned depth) {
  std::vector<Word> found(depth);
  const unsigned n = depth ? stack_addresses(p, innermost, found.data(), depth) : 0;
  std::vector<Term> frames;
  for (unsigned i = 0; i < n; i++) {
    const Term frame =
        frame_term(out, reinterpret_cast<const Word*>(found[i] & ~Word{7}), kNonValue, kNonValue);
    if (frame.is_value()) frames.push_back(frame);
  }
  return list_of(out, frames.data(), frames.size());
}

namespace {

constexpr std::uint32_t kToldOfExceptions = kCallsUnderWay | kTraceCall | kAwaitsReturns;

/// Reports that calls end by the exception: those at this depth of the stack and deeper. handler:
/// nullptr if nothing catches it.
void tell_unwound(Process& p, const Word* ip, Word depth, const Word* handler) {
  if (calls_are_under_way(p)) fail_calls(p, ip, depth, handler != nullptr);
  if (is_traced(p, kTraceCall | kAwaitsReturns)) exception_traced(p, depth, handler);
}

/// See handle_exception. There are two instances, so that the usual one saves no registers for the
/// other.
template <bool kTold>
[[gnu::always_inline]] inline const Word* unwind(Process& p, const Word* ip, Term* x) {
  if (!p.exception_trace.is_list()) p.exception_trace = capture(p, ip, nullptr);
  const Term trace = p.exception_trace;
  // A catch belongs to the frame it lies in; frames end with a return address.
  Term* frame = p.heap.stop;
  for (Term* s = frame; s < p.heap.end; s++) {
    if (s->is_header()) {
      frame = s + 1;
    } else if (s->is_catch()) {
      const auto* handler = static_cast<const Word*>(s->catch_address());
      // An exception that is raised before the handler ends its catch goes further out. If it came
      // here again, there would be a loop of exceptions without a `try` in it, and loader_loops.cpp
      // would not find that loop.
      *s = Term::nil();
      if (kTold) tell_unwound(p, ip, static_cast<Word>(p.heap.end - frame), handler);
      p.heap.stop = frame;
      x[0] = kNonValue;
      x[1] = kClassAtoms[static_cast<unsigned>(p.exception_class)];
      x[2] = p.exception_value;
      x[3] = trace;
      p.exception_trace = p.exception_value = Term::nil();
      return handler;
    }
  }
  if (kTold) tell_unwound(p, ip, 0, nullptr);
  return nullptr;
}

[[gnu::cold, gnu::noinline]] const Word* unwind_and_tell(Process& p, const Word* ip, Term* x) {
  return unwind<true>(p, ip, x);
}

}  // namespace

void capture_in_bif(Process& p, const Word* call) {
  if (!p.exception_trace.is_list()) p.exception_trace = capture(p, call, call);
}

const Word* handle_exception(Process& p, const Word* ip, Term* x) {
  if (is_traced(p, kToldOfExceptions)) [[unlikely]]
    return unwind_and_tell(p, ip, x);
  return unwind<false>(p, ip, x);
}

namespace {

std::unordered_map<const Export*, FailureCause>& failure_causes() {
  static auto& causes = *new std::unordered_map<const Export*, FailureCause>;
  return causes;
}

Term cause_of(Process& p, const Export& bif, const Term* args) {
  const auto known = failure_causes().find(&bif);
  return known == failure_causes().end() ? kNonValue : known->second(p, bif.arity, args);
}

}  // namespace

void set_failure_cause(const Export& bif, FailureCause find) { failure_causes()[&bif] = find; }

namespace {

/// Returns the module that explains failures of a built-in function, or kNonValue.
Term explaining_module(const Export& bif) {
  const Term module = bif.module;
  static const Term erts = intern_atom("erl_erts_errors"), stdlib = intern_atom("erl_stdlib_errors"),
                    kernel = intern_atom("erl_kernel_errors"), os = intern_atom("os"),
                    code = intern_atom("code");
  static const Term of_erts[] = {atoms::erlang, intern_atom("atomics"), intern_atom("counters"),
                                 intern_atom("persistent_term")};
  static const Term of_stdlib[] = {intern_atom("binary"), intern_atom("ets"),  intern_atom("lists"),
                                   intern_atom("maps"),   intern_atom("math"), intern_atom("re"),
                                   intern_atom("unicode")};
  if (std::ranges::find(of_erts, module) != std::end(of_erts)) return erts;
  if (module == os || module == code) return kernel;
  static const Term internal = intern_atom("erts_internal");
  if (module == internal) return failure_causes().contains(&bif) ? erts : kNonValue;
  return std::ranges::find(of_stdlib, module) != std::end(of_stdlib) ? stdlib : kNonValue;
}

/// Returns #{module => Module, cause => Cause}. All such maps share their keys.
Term info_with_cause(Heap& heap, Term module, Term cause) {
  static const Term cause_key = intern_atom("cause");
  static const Term keys = [] {
    Arena arena;
    Term pairs[] = {intern_atom("module"), Term::nil(), cause_key, Term::nil()};
    return make_literal(flatmap_of(map_from_pairs(arena, pairs, 2))->keys);
  }();
  const bool cause_first = keys.element(0) == cause_key;
  const Term values[] = {cause_first ? cause : module, cause_first ? module : cause};
  return map_with_keys(heap, keys, values);
}

}  // namespace

Term bif_trace_head(Process& p, const Export& bif, const Term* args) {
  static const Term error_info = intern_atom("error_info"), module_key = intern_atom("module");
  const Term list = list_of(p.heap, args, bif.arity);
  Term location = Term::nil();
  const Term errors = explaining_module(bif);
  if (errors.is_value() && p.exception_class == ExceptionClass::kError && p.exception_value != atoms::undef) {
    const Term cause = cause_of(p, bif, args);
    Term module_only[] = {module_key, errors};
    const Term map =
        cause.is_value() ? info_with_cause(p.heap, errors, cause) : map_from_pairs(p.heap, module_only, 1);
    Term* hp = p.heap.alloc(3 + 2);
    const Term pair = make_tuple(hp, error_info, map);
    location = make_cons(hp, pair, Term::nil());
  }
  Term* hp = p.heap.alloc(5);
  return make_tuple(hp, bif.module, bif.function, list, location);
}

Term arguments_head(Process& p, const Term* args, unsigned arity) {
  const Term list = list_of(p.heap, args, arity);
  Term* hp = p.heap.alloc(2);
  return make_tuple(hp, list);
}

Term build_stacktrace(Process& p, Term trace) {
  if (!trace.is_list()) return trace;
  if (is_raw(trace)) {
    const Term* big = trace.tail().boxed_ptr();
    const auto n = static_cast<unsigned>(big->header_arity() - 2);
    return frames_term(p.heap, trace.head(), reinterpret_cast<const Word*>(big + 2), n,
                       static_cast<std::uint32_t>(big[1].raw() >> kTraceVersionShift));
  }
  return trace.tail().is_atom() ? trace.head() : trace;
}

Term uncaught_reason(Process& p, bool* report) {
  static const Term nocatch = atoms::nocatch;
  *report = p.exception_class != ExceptionClass::kExit;
  if (!*report) return p.exception_value;
  const Term stack = build_stacktrace(p, p.exception_trace);
  Term* hp = p.heap.alloc(6);
  Term value = p.exception_value;
  if (p.exception_class == ExceptionClass::kThrow) value = make_tuple(hp, nocatch, value);
  return make_tuple(hp, value, stack);
}

Term caught_value(Process& p, const Term* x) {
  if (x[1] == atoms::throw_) return x[2];
  Term reason = x[2];
  const Term stack = x[1] == atoms::error ? build_stacktrace(p, x[3]) : kNonValue;
  Term* hp = p.heap.alloc(6);
  if (stack.is_value()) reason = make_tuple(hp, reason, stack);
  return make_tuple(hp, atoms::exit_upper, reason);
}

void reraise(Process& p, Term trace, Term value) {
  ExceptionClass cls = ExceptionClass::kError;
  bool known = false;
  if (is_raw(trace)) cls = class_in(trace.tail().boxed_ptr()[1].raw());
  else if (trace.is_list() && trace.tail().is_atom()) cls = class_of(trace.tail(), &known);
  keep_trace(p, cls, value, trace);
}

bool raise_again(Process& p, const Term* x) {
  bool known;
  const ExceptionClass cls = class_of(x[0], &known);
  if (!known) return false;
  if (is_raw(x[2])) {
    // The class may have changed since the capture.
    Term& limb = x[2].tail().boxed_ptr()[1];
    limb = Term::from_raw((limb.raw() & ~Word{0xFF}) | static_cast<Word>(cls));
    keep_trace(p, cls, x[1], x[2]);
    return true;
  }
  return raise_with_trace(p, cls, x[1], x[2].is_list() && x[2].tail().is_atom() ? x[2].head() : x[2]);
}

namespace {

/// Whether t is an entry of a stack trace as programs may write it: {M, F, ArityOrArguments,
/// Location} or {Fun, Arguments, Location}. The location may be missing; then *is_short is set.
bool is_trace_entry(Term t, bool* is_short) {
  if (!t.is_tuple() || t.tuple_arity() < 2 || t.tuple_arity() > 4) return false;
  const bool of_fun = t.element(0).is_fun() && t.tuple_arity() != 4;
  if (!of_fun && !(t.element(0).is_atom() && t.element(1).is_atom())) return false;
  const unsigned with_location = of_fun ? 3 : 4;
  if (t.tuple_arity() + 1 == with_location) *is_short = true;
  else if (t.tuple_arity() != with_location || !t.element(with_location - 1).is_cons_or_nil()) return false;
  return true;
}

/// Returns the trace with a location in each entry.
Term with_locations(Heap& heap, Term trace) {
  std::vector<Term> entries;
  for (Term l = trace; l.is_list(); l = l.tail()) {
    const Term t = l.head();
    bool is_short = false;
    (void)is_trace_entry(t, &is_short);
    Term* hp = heap.alloc(5);
    if (!is_short) entries.push_back(t);
    else if (t.tuple_arity() == 2) entries.push_back(make_tuple(hp, t.element(0), t.element(1), Term::nil()));
    else entries.push_back(make_tuple(hp, t.element(0), t.element(1), t.element(2), Term::nil()));
  }
  return list_of(heap, entries.data(), entries.size());
}

}  // namespace

bool raise_with_trace(Process& p, ExceptionClass cls, Term value, Term trace) {
  Term l = trace;
  bool some_short = false;
  for (; l.is_list(); l = l.tail())
    if (!is_trace_entry(l.head(), &some_short)) return false;
  if (!l.is_nil()) return false;
  if (some_short) trace = with_locations(p.heap, trace);
  Term* hp = p.heap.alloc(2);
  keep_trace(p, cls, value, make_cons(hp, trace, kClassAtoms[static_cast<unsigned>(cls)]));
  return true;
}

Term source_place(const Word* address, Heap& out) {
  const SourceLocation where = location_at(address);
  if (!where.file || where.line == 0) return atoms::undefined;
  const Term name = code_point_list(out, *where.file);
  Term* hp = out.alloc(3);
  return make_tuple(hp, name, Term::small(where.line));
}

bool is_of_replaced_version(const FunctionHeader& f) {
  // Every module exports something, and the addresses of exports are those of the current version.
  const Module* const m = module_at(f.entry());
  if (!m || m->exports.empty()) return false;
  const Module* const current = module_at(m->exports[0].entry->address.load(std::memory_order_acquire));
  return current && current->version > m->version;
}

}  // namespace vmrun
