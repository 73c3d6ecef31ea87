// SPDX-License-Identifier: Apache-2.0
#include "vm/base/clock.hpp"

#include <ctime>
#include <mutex>

#include "runtime/bif/support.hpp"
#include "vm/base/release.hpp"
#include "vm/process/reference.hpp"
#include "vm/term/arith.hpp"
#include "vm/term/big.hpp"

/// Clocks, calendar, references and unique integers. Erlang system time is Erlang monotonic time
/// plus an offset fixed at start (time warp mode no_time_warp); os:system_time follows the
/// operating system's clock.
namespace vmrun {
namespace {

SWord floor_div(SWord a, SWord b) { return a / b - (a % b < 0); }

struct Unit {
  const char* name;
  SWord per_second;
};
constexpr SWord kNative = 1'000'000'000;
constexpr Unit kUnits[] = {
    {"second", 1},
    {"millisecond", 1000},
    {"microsecond", 1'000'000},
    {"nanosecond", 1'000'000'000},
    {"native", kNative},
    {"perf_counter", kNative},
    // Older names of units.
    {"seconds", 1},
    {"milli_seconds", 1000},
    {"micro_seconds", 1'000'000},
    {"nano_seconds", 1'000'000'000},
};

/// Reads parts per second: an atom of the table or a positive integer.
bool read_unit(Term t, SWord* per_second) {
  static const auto names = [] {
    struct {
      Term name[std::size(kUnits)];
    } list;
    for (std::size_t i = 0; i < std::size(kUnits); ++i) list.name[i] = intern_atom(kUnits[i].name);
    return list;
  }();
  if (t.is_small()) {
    *per_second = t.small_value();
    return *per_second > 0;
  }
  for (std::size_t i = 0; i < std::size(kUnits); ++i)
    if (names.name[i] == t) {
      *per_second = kUnits[i].per_second;
      return true;
    }
  return false;
}

/// Rounded down, not towards zero.
Term convert(Process& p, Term time, SWord from, SWord to) {
  const Term scaled = arith_multiply(p.heap, time, make_integer(p.heap, to));
  const Term divisor = make_integer(p.heap, from);
  if (!scaled) return raise_system_limit(p);
  const Term quotient = arith_div(p.heap, scaled, divisor);
  const Term rest = arith_rem(p.heap, scaled, divisor);
  const bool below = rest.is_small() ? rest.small_value() < 0 : IntView(rest).negative();
  return below ? arith_subtract(p.heap, quotient, Term::small(1)) : quotient;
}

/// Converts nanoseconds to another unit.
Term in_unit(Process& p, SWord ns, Term unit) {
  SWord per_second;
  if (!read_unit(unit, &per_second)) return raise_badarg(p);
  const __int128 scaled = static_cast<__int128>(ns) * per_second;
  const __int128 result = scaled / kNative - (scaled % kNative < 0);
  if (result >= INT64_MIN && result <= INT64_MAX)
    return make_integer(p.heap, static_cast<std::int64_t>(result));
  return convert(p, make_integer(p.heap, ns), kNative, per_second);
}

Term native(Process& p, SWord ns) { return make_integer(p.heap, ns); }

Term stamp(Process& p, Word microseconds) {
  return new_tuple(p.heap, Term::small(static_cast<SWord>(microseconds / 1'000'000'000'000)),
                   Term::small(static_cast<SWord>(microseconds / 1'000'000 % 1'000'000)),
                   Term::small(static_cast<SWord>(microseconds % 1'000'000)));
}

Term date_tuple(Process& p, const tm& t) {
  return new_tuple(p.heap, Term::small(t.tm_year + 1900), Term::small(t.tm_mon + 1), Term::small(t.tm_mday));
}
Term time_tuple(Process& p, const tm& t) {
  return new_tuple(p.heap, Term::small(t.tm_hour), Term::small(t.tm_min), Term::small(t.tm_sec));
}
Term date_time(Process& p, const tm& t) {
  const Term date = date_tuple(p, t), time = time_tuple(p, t);
  return new_tuple(p.heap, date, time);
}
tm local_now() {
  const time_t now = time(nullptr);
  tm t;
  localtime_r(&now, &t);
  return t;
}

/// OTP does not convert between local and universal time before this year.
constexpr SWord kFirstLocalYear = 1902;
/// OTP converts universal time of these years into seconds.
constexpr SWord kFirstPosixYear = 1600, kLastPosixYear = INT32_MAX - 1;

/// Reads {{Y,Mo,D},{H,Mi,S}}, which must be a valid date not before least_year.
bool read_date_time(Term t, tm* out, SWord least_year = 0) {
  if (!t.is_tuple() || t.tuple_arity() != 2 || !t.element(0).is_tuple() || !t.element(1).is_tuple())
    return false;
  if (t.element(0).tuple_arity() != 3 || t.element(1).tuple_arity() != 3) return false;
  SWord n[6];
  static constexpr SWord kLeast[] = {0, 1, 1, 0, 0, 0}, kMost[] = {kLastPosixYear, 12, 31, 23, 59, 59};
  for (Word i = 0; i < 6; ++i)
    if (!small_in_range(t.element(i / 3).element(i % 3), kLeast[i], kMost[i], &n[i])) return false;
  static constexpr int kDays[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
  if (n[0] < least_year) return false;
  const bool leap = (n[0] % 4 == 0 && n[0] % 100 != 0) || n[0] % 400 == 0;
  if (n[2] > kDays[n[1] - 1] + (n[1] == 2 && leap)) return false;
  *out = {};
  out->tm_year = static_cast<int>(n[0]) - 1900;
  out->tm_mon = static_cast<int>(n[1]) - 1;
  out->tm_mday = static_cast<int>(n[2]);
  out->tm_hour = static_cast<int>(n[3]);
  out->tm_min = static_cast<int>(n[4]);
  out->tm_sec = static_cast<int>(n[5]);
  return true;
}

Term to_universal(Process& p, Term local, int is_dst) {
  tm t;
  if (!read_date_time(local, &t, kFirstLocalYear)) return raise_badarg(p);
  if (release_has(Trait::kSummerTimeIfAny)) {
    tzset();
    if (!daylight) is_dst = 0;
  }
  t.tm_isdst = is_dst;
  t.tm_wday = -1;  // mktime sets it on success; -1 seconds is a valid time
  const time_t seconds = mktime(&t);
  if (t.tm_wday == -1 || !gmtime_r(&seconds, &t)) return raise_badarg(p);
  return date_time(p, t);
}

}  // namespace

Term bif_erlang_monotonic_time_0(Process& p, const Term*) {
  return native(p, static_cast<SWord>(monotonic_ns()));
}
Term bif_erlang_monotonic_time_1(Process& p, const Term* a) {
  return in_unit(p, static_cast<SWord>(monotonic_ns()), a[0]);
}
Term bif_erlang_time_offset_0(Process& p, const Term*) { return native(p, time_offset_ns()); }
Term bif_erlang_time_offset_1(Process& p, const Term* a) { return in_unit(p, time_offset_ns(), a[0]); }
Term bif_erlang_system_time_0(Process& p, const Term*) {
  return native(p, static_cast<SWord>(monotonic_ns()) + time_offset_ns());
}
Term bif_erlang_system_time_1(Process& p, const Term* a) {
  return in_unit(p, static_cast<SWord>(monotonic_ns()) + time_offset_ns(), a[0]);
}
Term bif_erlang_timestamp_0(Process& p, const Term*) {
  return stamp(p, static_cast<Word>(floor_div(static_cast<SWord>(monotonic_ns()) + time_offset_ns(), 1000)));
}
Term bif_erlang_now_0(Process& p, const Term*) { return stamp(p, unique_now_us()); }

Term bif_erlang_convert_time_unit_3(Process& p, const Term* a) {
  SWord from, to;
  if (!a[0].is_integer() || !read_unit(a[1], &from) || !read_unit(a[2], &to)) return raise_badarg(p);
  return convert(p, a[0], from, to);
}

Term bif_os_system_time_0(Process& p, const Term*) { return native(p, static_cast<SWord>(system_ns())); }
Term bif_os_system_time_1(Process& p, const Term* a) {
  return in_unit(p, static_cast<SWord>(system_ns()), a[0]);
}
Term bif_os_timestamp_0(Process& p, const Term*) { return stamp(p, system_ns() / 1000); }
Term bif_os_perf_counter_0(Process& p, const Term*) { return native(p, static_cast<SWord>(monotonic_ns())); }
Term bif_os_perf_counter_1(Process& p, const Term* a) {
  return in_unit(p, static_cast<SWord>(monotonic_ns()), a[0]);
}

Term bif_erlang_localtime_0(Process& p, const Term*) { return date_time(p, local_now()); }
Term bif_erlang_date_0(Process& p, const Term*) { return date_tuple(p, local_now()); }
Term bif_erlang_time_0(Process& p, const Term*) { return time_tuple(p, local_now()); }
Term bif_erlang_universaltime_0(Process& p, const Term*) {
  const time_t now = time(nullptr);
  tm t;
  gmtime_r(&now, &t);
  return date_time(p, t);
}
Term bif_erlang_localtime_to_universaltime_1(Process& p, const Term* a) { return to_universal(p, a[0], -1); }
Term bif_erlang_localtime_to_universaltime_2(Process& p, const Term* a) {
  if (a[1] == atoms::undefined) return to_universal(p, a[0], -1);
  if (a[1] != atoms::true_ && a[1] != atoms::false_) return raise_badarg(p);
  return to_universal(p, a[0], a[1] == atoms::true_);
}
Term bif_erlang_universaltime_to_localtime_1(Process& p, const Term* a) {
  tm t;
  if (!read_date_time(a[0], &t, kFirstLocalYear)) return raise_badarg(p);
  const time_t seconds = timegm(&t);
  if (!localtime_r(&seconds, &t)) return raise_badarg(p);
  return date_time(p, t);
}

/// Does OTP's arithmetic, to get its results for times long past too: years begin on the first of
/// March, and a quotient is cut towards zero. Years take more than 32 bits.
Term bif_erlang_posixtime_to_universaltime_1(Process& p, const Term* a) {
  constexpr SWord kDay = 86400, kDaysToMarchOfYear0 = 719468;
  SWord seconds;
  if (!integer_to_int64(a[0], &seconds)) return raise_badarg(p);
  const SWord days = floor_div(seconds, kDay) + kDaysToMarchOfYear0;
  const SWord of_day = (seconds % kDay + kDay) % kDay;
  const auto day_of_year = [&](SWord y) { return days - (365 * y + y / 4 - y / 100 + y / 400); };
  SWord year = (10000 * days + 14780) / 3652425;
  if (day_of_year(year) < 0) --year;
  const SWord day = day_of_year(year), month = (100 * day + 52) / 3060;  // since March
  const auto triple = [&](SWord x, SWord y, SWord z) {
    return new_tuple(p.heap, Term::small(x), Term::small(y), Term::small(z));
  };
  const Term date = triple(year + (month + 2) / 12, (month + 2) % 12 + 1, day - (month * 306 + 5) / 10 + 1);
  const Term time = triple(of_day / 3600, of_day % 3600 / 60, of_day % 60);
  return new_tuple(p.heap, date, time);
}
Term bif_erlang_universaltime_to_posixtime_1(Process& p, const Term* a) {
  tm t;
  if (!read_date_time(a[0], &t, kFirstPosixYear)) return raise_badarg(p);
  return make_integer(p.heap, timegm(&t));
}

Term bif_erlang_make_ref_0(Process& p, const Term*) { return make_ref(p.heap); }

namespace {

Term unique_integer(Process& p, bool positive, bool monotonic) {
  return unique_integer_term(p.heap, monotonic ? next_monotonic_integer() : next_unique_integer(), positive);
}

}  // namespace

Term bif_erlang_unique_integer_0(Process& p, const Term*) { return unique_integer(p, false, false); }
Term bif_erlang_unique_integer_1(Process& p, const Term* a) {
  static const Term positive_atom = intern_atom("positive"), monotonic_atom = intern_atom("monotonic");
  bool positive = false, monotonic = false;
  Term list = a[0];
  for (; list.is_list(); list = list.tail()) {
    if (list.head() == positive_atom) positive = true;
    else if (list.head() == monotonic_atom) monotonic = true;
    else return raise_badarg(p);
  }
  return list.is_nil() ? unique_integer(p, positive, monotonic) : raise_badarg(p);
}

}  // namespace vmrun
