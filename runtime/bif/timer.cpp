// SPDX-License-Identifier: Apache-2.0
#include "runtime/bif/support.hpp"
#include "vm/base/clock.hpp"
#include "vm/heap/copy.hpp"
#include "vm/message/send.hpp"
#include "vm/process/process_state.hpp"
#include "vm/process/process_table.hpp"
#include "vm/sched/scheduler.hpp"
#include "vm/term/big.hpp"

/// Timers that programs start. A timer is in the wheel of the scheduler on which it was started.
namespace vmrun {
namespace {

bool read_boolean_option(Term o, Term name, bool* value) {
  if (!o.is_tuple() || o.tuple_arity() != 2 || o.element(0) != name) return false;
  return read_boolean(o.element(1), value);
}

bool read_start_options(Term options, bool* absolute) {
  for (; options.is_list(); options = options.tail())
    if (!read_boolean_option(options.head(), atoms::abs, absolute)) return false;
  return options.is_nil();
}

/// Reads a time in milliseconds. Returns false when the term is not a time, or the time never
/// comes: monotonic time ends after 2^63 ns.
bool read_time(Term t, bool absolute, Word now_ns, std::int64_t* time) {
  constexpr SWord kLastMs = INT64_MAX / 1'000'000;
  if (!integer_to_int64(t, time)) return false;
  return absolute ? *time <= kLastMs : *time >= 0 && *time < kLastMs - static_cast<SWord>(now_ns / 1'000'000);
}

/// send_after: Message; start_timer: {timeout, Ref, Message}.
Term start(Process& p, const Term* a, Term options, bool wrapped) {
  bool absolute = false;
  const Word now_ns = monotonic_ns();
  std::int64_t time;
  if (!read_start_options(options, &absolute) || !read_time(a[0], absolute, now_ns, &time))
    return raise_badarg(p);
  if (!a[1].is_atom() && !a[1].is_local_pid()) return raise_badarg(p);
  if (a[1] != p.id && a[1].is_local_pid() && !process_table.find(a[1]))
    return make_ref(p.heap);  // no timer belongs to it
  const Term message = a[2];
  Fragment* f = new_fragment(copy_size_words(message, Literals::kCopied) + (wrapped ? kRefWords + 4 : 0));
  f->from_vm = 1;
  f->message = copy_into(*f, message, Literals::kCopied);
  Term* place = nullptr;
  if (wrapped) {
    place = fragment_alloc(*f, kRefWords);
    Term* hp = fragment_alloc(*f, 4);
    f->message = make_tuple(hp, atoms::timeout, Term::boxed(place), f->message);
  }
  const Word tick = absolute ? static_cast<Word>(time < 0 ? 0 : time)
                             : (now_ns + 999'999) / 1'000'000 + static_cast<Word>(time);
  TimerWheel& wheel = this_scheduler()->timers;
  const RefKey key = wheel.start_message(a[1], now_ns / 1'000'000, tick, f, place);
  if (a[1] == p.id) {
    std::unique_ptr<OwnTimers>& own = extra_of(p).timers;
    if (!own) own = std::make_unique<OwnTimers>();
    own->add(wheel, key, p.id);
  } else if (a[1].is_local_pid()) {
    list_timer_of_other(a[1], wheel, key);
  }
  bump_reductions(p, 4);
  Term* hp = p.heap.alloc(kRefWords);
  return make_ref(hp, key);
}

/// Returns the milliseconds left, or false. The reference tells where the timer is.
Term look_up(Process& p, Term ref, bool cancel) {
  const RefKey key = ref_key(ref);
  const int number = TimerWheel::number_of(key);
  if (number < 0 || static_cast<unsigned>(number) >= scheduler_count()) return atoms::false_;
  const Word now = tick_after(0);  // rounded up, so that not more is left than was asked for
  const SWord left = scheduler_at(static_cast<unsigned>(number)).timers.look_up(key, now, cancel, p.id);
  if (cancel && p.extra && p.extra->timers) p.extra->timers->forget(key);
  return left < 0 ? atoms::false_ : Term::small(left);
}

Term look_up(Process& p, Term ref, Term options, bool cancel) {
  bool async = false, info = true;
  for (; options.is_list(); options = options.tail())
    if (!read_boolean_option(options.head(), atoms::async, &async) &&
        !(cancel && read_boolean_option(options.head(), atoms::info, &info)))
      return raise_badarg(p);
  if (!options.is_nil() || !ref.is_ref()) return raise_badarg(p);
  const Term result = ref.is_local_ref() ? look_up(p, ref, cancel) : atoms::false_;
  if (!async) return info ? result : atoms::ok;
  if (info) {
    Fragment* f = new_fragment(copy_size_words(ref) + 4);
    const Term copy = copy_into(*f, ref);
    Term* hp = fragment_alloc(*f, 4);
    f->message = make_tuple(hp, cancel ? atoms::cancel_timer : atoms::read_timer, copy, result);
    send_from_vm(p.id, f);
  }
  return atoms::ok;
}

}  // namespace

Term start_timer_cause(Process&, unsigned arity, const Term* a) {
  static const Term time_is_wrong = intern_atom("time");
  bool absolute = false;
  std::int64_t time;
  if (!read_start_options(arity == 4 ? a[3] : Term::nil(), &absolute)) return atoms::badopt;
  return read_time(a[0], absolute, monotonic_ns(), &time) ? kNonValue : time_is_wrong;
}

Term bif_erlang_send_after_3(Process& p, const Term* a) { return start(p, a, Term::nil(), false); }
Term bif_erlang_send_after_4(Process& p, const Term* a) { return start(p, a, a[3], false); }
Term bif_erlang_start_timer_3(Process& p, const Term* a) { return start(p, a, Term::nil(), true); }
Term bif_erlang_start_timer_4(Process& p, const Term* a) { return start(p, a, a[3], true); }
Term bif_erlang_cancel_timer_1(Process& p, const Term* a) { return look_up(p, a[0], Term::nil(), true); }
Term bif_erlang_cancel_timer_2(Process& p, const Term* a) { return look_up(p, a[0], a[1], true); }
Term bif_erlang_read_timer_1(Process& p, const Term* a) { return look_up(p, a[0], Term::nil(), false); }
Term bif_erlang_read_timer_2(Process& p, const Term* a) { return look_up(p, a[0], a[1], false); }

}  // namespace vmrun
