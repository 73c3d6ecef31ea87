// SPDX-License-Identifier: Apache-2.0
#include "vm/code/instruction_support.hpp"

#include <algorithm>
#include <memory>
#include <utility>

#include "vm/base/small_limits.hpp"
#include "vm/code/code_server.hpp"
#include "vm/code/exceptions.hpp"
#include "vm/code/function_probes.hpp"
#include "vm/code/instructions.hpp"
#include "vm/code/native_call.hpp"
#include "vm/code/segments.hpp"
#include "vm/heap/build.hpp"
#include "vm/lifecycle/gc.hpp"
#include "vm/message/request.hpp"
#include "vm/probes/fire.hpp"
#include "vm/process/dirty_job.hpp"
#include "vm/sched/scheduler.hpp"
#include "vm/term/bits_append.hpp"
#include "vm/term/map.hpp"
#include "vm/term/print.hpp"
#include "vm/trace/call_trace.hpp"
#include "vm/trace/saved_calls.hpp"
#include "vm/trace/trace.hpp"

namespace vmrun {
namespace {

/// Collects with some further terms as roots. They are put on the stack, in the words that every
/// frame keeps in reserve.
bool collect_with(Process& p, Word need, Term* x, unsigned live, Term* extra, unsigned count) {
  for (unsigned i = 0; i < count; i++) *--p.heap.stop = extra[i];
  const int cost = collect(p, need, x, live);
  for (unsigned i = count; i-- > 0;) extra[i] = *p.heap.stop++;
  if (cost > 0) bump_reductions(p, cost);
  return cost >= 0;
}

}  // namespace

bool room_for(Process& p, Word words, Term* x, unsigned live, Term* extra, unsigned count) {
  if (p.heap.free_words() >= words + kStackReserveWords && !p.heap.gc_desired() && !gc_modes.collect_always)
    return true;
  if (collect_with(p, words + kStackReserveWords, x, live, extra, count)) return true;
  // What the instruction makes lies outside of the block. The process ends at its next call or
  // exception, whichever the instruction leads to.
  if (!std::exchange(p.exit_pending, true)) p.exit_reason = atoms::killed;
  p.reductions = 0;
  return false;
}

namespace {

constexpr Word kManyWords = 1000;  // with fewer words no operation takes long

Word magnitude_words(Term t) { return t.is_big() ? t.boxed_ptr()->header_arity() : 1; }

Word arith_words(ArithOp op, Term a, Term b) {
  const Word n = magnitude_words(a) + magnitude_words(b) + 2;
  if (op == ArithOp::kBsl && b.is_small() && b.small_value() > 0)
    return n + static_cast<Word>(b.small_value() < (1 << 25) ? b.small_value() : 0) / 64;
  return n;
}

}  // namespace

// ---- Arithmetic ---------------------------------------------------------------------------------

Term slow_arith(Process& p, ArithOp op, SlowOperation* operation, Term* x) {
  Term* const operands = operation->operands;
  operation->op = op;
  if (operands[0].is_number() && operands[1].is_number()) {
    const Word words = arith_words(op, operands[0], operands[1]);
    if (words > kManyWords && arith_takes_long(op, operands[0], operands[1])) [[unlikely]]
      return run_on_dirty(p, operator_export(op)->bif, operands, 2);
    room_for(p, words, x, operation->live_registers & ~kOperandsSwapped, operands, 2);
  }
  const Term result = arith(op, p.heap, operands[0], operands[1]);
  if (!result) [[unlikely]]
    p.bif_action = BifAction::kRaise;
  return result;
}

Export* operator_export(ArithOp op) {
  static const char* const names[] = {"+",   "-",    "*",   "/",   "div", "rem", "band",
                                      "bor", "bxor", "bsl", "bsr", "-",   "+",   "bnot"};
  return export_entry(atoms::erlang, intern_atom(names[static_cast<unsigned>(op)]),
                      op >= ArithOp::kNegate ? 1 : 2);
}

// ---- Calls --------------------------------------------------------------------------------------

Term undefined_guard_bif(Process& p, const Term*) { return raise_error(p, atoms::undef); }

const Export* apply_target(Term module, Term function, unsigned arity) {
  if (!module.is_atom() || !function.is_atom()) return nullptr;
  const Export* const e = recent_export(module, function, arity);
  return e ? e : export_entry(module, function, arity);
}

void gather_arguments(Process& p, Term* x, unsigned arity) {
  Term* hp = p.heap.alloc(2 * arity);
  Term list = Term::nil();
  for (unsigned n = arity; n-- > 0;) list = make_cons(hp, x[n], list);
  const Term module = x[arity], function = x[arity + 1];
  x[0] = module;
  x[1] = function;
  x[2] = list;
}

namespace {

bool is_raising(Term function, unsigned arity) {
  if (function == atoms::error) return arity <= 3;
  return arity == 1 && (function == atoms::exit || function == atoms::throw_);
}
/// Counts a proper list's elements. Returns more than such functions have arguments for other
/// lists.
unsigned count_arguments(Term list) {
  unsigned n = 0;
  for (; list.is_list() && n <= 3; list = list.tail()) ++n;
  return list.is_nil() ? n : 4;
}

}  // namespace

bool leads_to_raising(const Export& e, const Term* x) {
  if (e.module != atoms::erlang) return false;
  if (!is_apply(e)) return is_raising(e.function, e.arity);
  Term module = x[0], function = x[1], list = x[2];
  while (module == atoms::erlang) {
    const unsigned arity = count_arguments(list);
    if (function != atoms::apply || arity != 3) return is_raising(function, arity);
    const Term second = list.tail();
    module = list.head(), function = second.head(), list = second.tail().head();
  }
  return false;
}

bool spread_arguments(Term list, Term* x, unsigned* arity) {
  unsigned n = 0;
  for (; list.is_list() && n < 256; list = list.tail()) x[n++] = list.head();
  *arity = n;
  return list.is_nil() && n < 256;
}

namespace {

/// Runs as a dirty job. The process finds out afterwards whether the module is there.
Term load_called_module(Process&, const Term* a) {
  std::string message;
  if (!autoload_module(a[0], &message) && !message.empty()) std::fprintf(stderr, "%s\n", message.c_str());
  return atoms::ok;
}

}  // namespace

namespace {
bool for_all = false;
std::vector<Term> special_modules;  // few
bool names_error_handler(const Process& p) { return p.extra && p.extra->error_handler.is_atom(); }
}  // namespace

void use_error_handler_for_all() { for_all = true; }
void use_error_handler_for(std::vector<Term> modules) { special_modules = std::move(modules); }
bool error_handler_is_used_for(Term module) {
  return std::find(special_modules.begin(), special_modules.end(), module) != special_modules.end();
}
bool is_for_error_handler(const Process& p, Term module) {
  return has_own_error_handler(p) || error_handler_is_used_for(module);
}

bool has_own_error_handler(const Process& p) { return for_all || names_error_handler(p); }

const Export* error_handler(const Process& p, Term name) {
  if (!names_error_handler(p) && !for_all) return export_entry(atoms::error_handler, name, 3);
  const Export* e =
      find_export(names_error_handler(p) ? p.extra->error_handler : atoms::error_handler, name, 3);
  return e && is_defined(*e) ? e : nullptr;
}

const Export* pending_purge(Process& p, Term module) {
  static const Term purger = intern_atom("erts_code_purger"), function = intern_atom("pending_purge_lambda");
  const Export* e = find_export(purger, function, 3);
  return e && is_defined(*e) && wait_for_purge(p, module) ? e : nullptr;
}

bool load_on_dirty(Process& p, const Export& e) {
  if (came_back(p)) return run_on_dirty(p, load_called_module, &e.module, 1), false;
  if (current_module(e.module)) return false;
  if (error_handler_is_used_for(e.module)) return false;
  if (autoload_is_quick(e.module)) return load_called_module(p, &e.module), false;
  if (has_own_error_handler(p)) return false;
  run_on_dirty(p, load_called_module, &e.module, 1, DirtyKind::kIo);
  return true;
}

const Word* resolve_undefined(Process& p, const Export& e, Term* x) {
  static const Term handler = intern_atom("$handle_undefined_function");
  if (is_defined(e)) return e.address.load(std::memory_order_acquire);
  if (has_own_error_handler(p)) return nullptr;
  const Export* h = find_export(e.module, handler, 2);
  if (!h || !is_defined(*h)) return nullptr;
  Term args = Term::nil();
  Term* hp = p.heap.alloc(2 * e.arity);
  for (unsigned i = e.arity; i-- > 0;) args = make_cons(hp, x[i], args);
  x[0] = e.function;
  x[1] = args;
  return h->address.load(std::memory_order_acquire);
}

// ---- Maps and bit strings -----------------------------------------------------------------------

Term replace_values(Term map, const Word* pairs, unsigned count, const Term* x, const Term* e, Term* h) {
  if (!is_flat_map(map) || gc_modes.collect_always) return kNonValue;
  const FlatMap* m = flatmap_of(map);
  const Word n = m->size, words = sizeof(FlatMap) / sizeof(Term) + n;
  if (h + words + kStackReserveWords > e) return kNonValue;
  const Term* const keys = m->keys.boxed_ptr() + 1;
  Term* const values = reinterpret_cast<FlatMap*>(h)->values();
  const auto place = [&](unsigned i) {
    const Term key = decode_source(pairs[i], x, e);
    Word at = key.is_immed() ? 0 : n;
    while (at < n && keys[at] != key) ++at;
    return at;
  };
  if (count == 0) return map;
  Word at = place(0);
  if (at == n) return kNonValue;  // the usual case, if one of them is missing
  copy_words(h, &m->header, words);
  bool changed = false;
  for (unsigned i = 0;;) {
    const Term value = decode_source(pairs[i + 1], x, e);
    changed |= values[at] != value;
    values[at] = value;
    if ((i += 2) == count) return changed ? Term::boxed(h) : map;
    if ((at = place(i)) == n) return kNonValue;
  }
}

namespace {

/// How many words an update may take.
Word put_map_words(Term map, Word n) {
  if (!is_flat_map(map)) return 40 * n;
  return 5 + 2 * (map_size(map) + n) + (map_size(map) + n > kFlatMapMax ? 200 : 0);
}

Term put_pairs(Process& p, bool exact, Term* missing, Term map, const Word* pairs, unsigned count,
               const Term* x) {
  const Word n = count / 2;
  const Term* e = p.heap.stop;
  constexpr unsigned kInline = usual_or_small<unsigned>(64, 2);
  Term inline_pairs[kInline];
  std::unique_ptr<Term[]> many;
  Term* decoded = inline_pairs;
  if (count > kInline) {
    many = std::make_unique<Term[]>(count);
    decoded = many.get();
  }
  for (unsigned i = 0; i < count; i++) decoded[i] = decode_source(pairs[i], x, e);
  return exact ? map_update_many(p.heap, map, decoded, n, missing) : map_put_many(p.heap, map, decoded, n);
}

}  // namespace

Term put_map(Process& p, bool exact, Term* missing, Term map, const Word* pairs, unsigned count, Term* x,
             unsigned live) {
  const Word n = count / 2;
  room_for(p, put_map_words(map, n), x, live, &map, 1);
  if (n != 1) return put_pairs(p, exact, missing, map, pairs, count, x);
  const Term* e = p.heap.stop;
  const Term key = decode_source(pairs[0], x, e), value = decode_source(pairs[1], x, e);
  if (!exact) return map_put(p.heap, map, key, value);
  *missing = key;
  return map_update(p.heap, map, key, value);
}

bool is_collection_due(const Process& p) { return p.heap.gc_desired() || gc_modes.collect_always; }

namespace {

bool has_room(const Process& p, Word words) {
  return p.heap.free_words() >= words + kStackReserveWords && !gc_modes.collect_always;
}

/// As replace_values.
Term with_values(Term map, const Term* pairs, Word n, Term* to) {
  const FlatMap* const m = flatmap_of(map);
  const Word size = m->size;
  const Term* const keys = m->keys.boxed_ptr() + 1;
  Term* const values = reinterpret_cast<FlatMap*>(to)->values();
  copy_words(to, &m->header, sizeof(FlatMap) / sizeof(Term) + size);
  bool changed = false;
  for (Word k = 0; k < n; ++k) {
    Word at = pairs[2 * k].is_immed() ? 0 : size;
    while (at < size && keys[at] != pairs[2 * k]) ++at;
    if (at == size) return kNonValue;
    changed |= values[at] != pairs[2 * k + 1];
    values[at] = pairs[2 * k + 1];
  }
  return changed ? Term::boxed(to) : map;
}

}  // namespace

Term arith_in_room(Process& p, ArithOp op, Term a, Term b) {
  if (!a.is_number() || !b.is_number()) return kNonValue;
  const Word words = arith_words(op, a, b);
  if (words > kManyWords || !has_room(p, words)) return kNonValue;
  return arith(op, p.heap, a, b);
}

Term put_map_in_room(Process& p, bool exact, Term map, const Term* pairs, Word n) {
  if (is_flat_map(map) && n > 0) {
    const Word words = sizeof(FlatMap) / sizeof(Term) + map_size(map);
    if (!has_room(p, words)) return kNonValue;
    if (const Term quick = with_values(map, pairs, n, p.heap.top); quick.is_value()) {
      if (quick != map) p.heap.top += words;
      return quick;
    }
  }
  if (!has_room(p, put_map_words(map, n))) return kNonValue;
  Term missing;
  if (n != 1)
    return exact ? map_update_many(p.heap, map, pairs, n, &missing) : map_put_many(p.heap, map, pairs, n);
  return exact ? map_update(p.heap, map, pairs[0], pairs[1]) : map_put(p.heap, map, pairs[0], pairs[1]);
}

Term match_integer(Process& p, Term ctx, Term size, unsigned unit, unsigned flags, Term* x, unsigned live) {
  Word bits;
  if (field_bits(size, unit, &bits) != FieldSize::kOk) return kNonValue;
  if (bits > bits_left(*match_context(ctx))) return kNonValue;
  if (bits > 59 && live != kNoCollect && !room_for(p, bits / 64 + 3, x, live, &ctx, 1)) return kNonValue;
  return bs_get_integer(p.heap, *match_context(ctx), bits, flags);
}

namespace {

enum class Failure { kNone, kBadarg, kSystemLimit };

/// Finds out how many bits there will be, and what is wrong with sizes and characters. What is
/// wrong with other values, units included, is found out by put_segment, after all of these, as in
/// OTP.
[[gnu::always_inline]] inline Failure segment_bits(const SegmentReader& s, const Word* words, Word* bits) {
  switch (s.type) {
    case BinarySegment::kString: *bits = words[2] * 8; return Failure::kNone;
    case BinarySegment::kUtf8: *bits = utf8_bits(s.source); break;
    case BinarySegment::kUtf16: *bits = utf16_bits(s.source); break;
    case BinarySegment::kUtf32: *bits = is_unicode_scalar(s.source) ? 32 : 0; break;
    default:
      if (s.whole) {
        if (!s.source.is_bitstring()) return Failure::kBadarg;
        *bits = bit_size_of(s.source);
        return Failure::kNone;
      }
      switch (field_bits(s.size, s.unit, bits)) {
        case FieldSize::kOk: return Failure::kNone;
        case FieldSize::kBad: return Failure::kBadarg;
        case FieldSize::kTooBig: return Failure::kSystemLimit;
      }
  }
  return *bits ? Failure::kNone : Failure::kBadarg;
}

/// bits: from segment_bits.
[[gnu::always_inline]] inline bool put_segment(BitBuilder& b, const SegmentReader& s, const Word* words,
                                               Word bits) {
  switch (s.type) {
    case BinarySegment::kInteger: return b.put_integer(s.source, bits, s.flags);
    case BinarySegment::kString:
      b.put_bytes(reinterpret_cast<const std::uint8_t*>(words[1]), words[2]);
      return true;
    case BinarySegment::kUtf8: return b.put_utf8(s.source);
    case BinarySegment::kUtf16: return b.put_utf16(s.source, s.flags);
    case BinarySegment::kUtf32: return b.put_utf32(s.source, s.flags);
    case BinarySegment::kFloat: return b.put_float(s.source, bits, s.flags);
    default: return s.whole ? b.put_all(s.source, s.unit) : b.put_bits(s.source, bits);
  }
}

/// Sizes of the segments of one bit string, kept between sizing and writing.
class SegmentSizes {
 public:
  explicit SegmentSizes(unsigned count) : sizes_(inline_) {
    if (count > kInline) {
      many_ = std::make_unique_for_overwrite<Word[]>(count);
      sizes_ = many_.get();
    }
  }
  Word& operator[](unsigned i) { return sizes_[i]; }

 private:
  static constexpr unsigned kInline = usual_or_small<unsigned>(24, 2);
  Word* sizes_;
  std::unique_ptr<Word[]> many_;
  Word inline_[kInline];
};

}  // namespace

Term create_binary(Process& p, const Word* segments, unsigned count, Word need, Term* x, unsigned live) {
  const auto kind = static_cast<BinarySegment>(segments[0] & 0xFF);
  const bool append = kind >= BinarySegment::kAppend;
  const unsigned first = append ? 3 : 0;
  SegmentSizes sizes(count / 3);
  const Word most = max_binary_bits();
  const auto at = [&](unsigned i) { return SegmentReader(segments + i, x, p.heap.stop); };
  Word total = 0;
  for (unsigned i = first; i < count; i += 3) {
    Word bits = 0;
    const Failure f = segment_bits(at(i), segments + i, &bits);
    if (f == Failure::kBadarg) return raise_bad_segment(p, at(i));
    if (f == Failure::kSystemLimit || (total += bits) > most) return raise_large_segment(p, at(i));
    sizes[i / 3] = bits;
  }
  if (live != kNoCollect &&
      !room_for(p, need + (append ? kAppendWords : new_bits_words(total)), x, live, nullptr, 0))
    return kNonValue;
  BitBuilder builder;
  Term result;
  Word copied = 0;  // size of what is appended to
  if (append) {
    const SegmentReader s(segments, x, p.heap.stop);
    const Appended appended = kind == BinarySegment::kPrivateAppend ? Appended::kItself : Appended::kAnother;
    result = bs_append(p.heap, s.source, total, s.unit, &builder, appended, &copied);
    if (!result.is_value()) return raise_bad_segment(p, s);
  } else {
    result = bs_new(p.heap, total, &builder);
  }
  for (unsigned i = first; i < count; i += 3) {  // sources anew: a collection may have moved them
    if (!put_segment(builder, at(i), segments + i, sizes[i / 3])) return raise_bad_segment(p, at(i));
  }
  bump_reductions(p, static_cast<SWord>((total + copied) >> 13));
  return result;
}

// ---- Probes -------------------------------------------------------------------------------------

void trace_function_entry(Process& p, const FunctionHeader& f, bool global, Word depth) {
  if (global ? !probe::global_function_entry_enabled() : !probe::local_function_entry_enabled()) return;
  (global ? probe::fire_global_function_entry : probe::fire_local_function_entry)(
      p.id, {f.module, f.function, f.arity}, static_cast<SWord>(depth));
}
namespace {

Word depth_after(const Process& p, unsigned pushed) {
  return pushed ? p.heap.stack_words() + pushed : call_depth(p, p.heap.stop);
}
Word depth_of_built_in(const Process& p, bool last) {
  return last ? call_depth(p, p.heap.stop) : p.heap.stack_words();
}

void enter(Process& p, const FunctionHeader& f, bool global, const Term* x, Word depth) {
  trace_function_entry(p, f, global, depth);
  if (is_traced(p, kTraceCall)) call_traced(p, f, global, x, depth);
}

}  // namespace

void trace_local_entry(Process& p, const Word* entry, const Term* x, unsigned pushed) {
  enter(p, *header_of_entry(entry), false, x, depth_after(p, pushed));
}

void trace_send_call(Process& p) {
  if (!saves_calls(p)) return;
  save_call(p, {atoms::erlang, atoms::send, 2});
  save_event(p, atoms::send);
}
void trace_saved_event(Process& p, Term what) {
  if (saves_calls(p)) save_event(p, what);
  if (what == atoms::receive && p.observed & kAwaitsReturns) call_memory_receives(p, **p.mailbox.save);
}

void trace_global_entry(Process& p, const Export& e, const Term* x, unsigned pushed) {
  // Built-ins are reported as such; for an undefined function, the function that runs in its place;
  // for apply, the function that it applies.
  if (e.bif || e.address.load(std::memory_order_acquire) == e.stub_code()) return;
  if (saves_calls(p)) save_call(p, {e.module, e.function, e.arity});
  enter(p, e.stub.header, true, x, depth_after(p, pushed));
}

void trace_first_call(Process& p, const Term* x) {
  static Export* const apply2 = export_entry(atoms::erlang, atoms::apply, 2);
  if (x[0] != atoms::erlang || x[1] != atoms::apply || list_length(x[2]) != 2) return;
  const Term arguments[] = {x[2].head(), x[2].tail().head()};
  if (saves_calls(p)) save_call(p, {atoms::erlang, atoms::apply, 2});
  enter(p, apply2->stub.header, true, arguments, p.heap.stack_words());
}

void trace_fun(Process& p, const FunObject& f, bool global, const Term* x, unsigned pushed) {
  if (f.is_external) return trace_global_entry(p, *f.exported, x, pushed);
  if (const Word* entry = f.entry->address.load(std::memory_order_acquire))
    enter(p, *header_of_entry(entry), global, x, depth_after(p, pushed));
}

void trace_return(Process& p, const Word* ip, const Term* x) {
  const Word depth = call_depth(p, p.heap.stop);
  if (is_traced(p, kTraceCall | kAwaitsReturns)) return_traced(p, x[0], depth);
  if (!probe::function_return_enabled()) return;
  const FunctionHeader* f = function_header_at(ip);
  if (!f) return;
  probe::fire_function_return(p.id, {f->module, f->function, f->arity}, static_cast<SWord>(depth));
}

namespace {

// A built-in function that works on a fiber, goes on on a dirty scheduler, or waits for the answer
// to a request is called again by its instruction. For tracing that is still one call.

bool is_called_again(const Process& p) { return p.fiber || came_back(p) || has_asked(p); }
bool will_be_called_again(const Process& p, Term result) {
  return !result.is_value() &&
         (p.bif_action == BifAction::kDirty || p.bif_action == BifAction::kSuspendOnFiber ||
          (p.bif_action == BifAction::kSuspend && has_asked(p)));
}

void save_built_in(Process& p, const Export& e) {
  save_call(p, {e.module, e.function, e.arity});
  if (e.function == atoms::send && e.module == atoms::erlang) save_event(p, atoms::send);
}

}  // namespace

void trace_bif_entry(Process& p, const Export& e, const Term* x, bool last) {
  if (is_called_again(p)) return;
  const Word depth = depth_of_built_in(p, last);
  if (saves_calls(p)) save_built_in(p, e);
  if (is_traced(p, kTraceCall)) call_traced(p, e.stub.header, true, x, depth);
  reach_breakpoint(p, e, x, depth);
  if (e.bif_flags & BifRow::kGuard) return;
  begin_built_in(p, e, x, depth);
  if (probe::global_function_entry_enabled() && (e.bif_flags & BifRow::kHeavy))
    trace_function_entry(p, e.stub.header, true, depth);
  if (!probe::bif_entry_enabled()) return;
  probe::fire_bif_entry(p.id, {e.module, e.function, e.arity});
}
void trace_bif_return(Process& p, const Export& e, Term result, bool last) {
  if (will_be_called_again(p, result)) return;
  const Word depth = depth_of_built_in(p, last);
  if (is_traced(p, kTraceCall | kAwaitsReturns)) built_in_returned(p, e.stub.header, result, depth);
  end_built_in(p, e, result, depth);
  if (!probe::bif_return_enabled() || (e.bif_flags & BifRow::kGuard)) return;
  probe::fire_bif_return(p.id, {e.module, e.function, e.arity});
}

void trace_body_bif_entry(Process& p, const Export& e, const Term* arguments) {
  if (e.bif_flags & BifRow::kGuard) return;
  begin_built_in(p, e, arguments, p.heap.stack_words());
  if (probe::bif_entry_enabled()) probe::fire_bif_entry(p.id, {e.module, e.function, e.arity});
}
void trace_body_bif_return(Process& p, const Export& e, Term result) {
  if (e.bif_flags & BifRow::kGuard) return;
  end_built_in(p, e, result, p.heap.stack_words());
  if (probe::bif_return_enabled()) probe::fire_bif_return(p.id, {e.module, e.function, e.arity});
}

void trace_nif_entry(Process& p, const NifFunction& f) {
  if (probe::nif_entry_enabled()) probe::fire_nif_entry(p.id, {f.entry->module, f.entry->function, f.arity});
}
void trace_nif_return(Process& p, const NifFunction& f, Term result) {
  if (result.is_value() && is_traced(p, kTraceCall | kAwaitsReturns))
    return_traced(p, result, call_depth(p, p.heap.stop));
  if (probe::nif_return_enabled())
    probe::fire_nif_return(p.id, {f.entry->module, f.entry->function, f.arity});
}

}  // namespace vmrun
