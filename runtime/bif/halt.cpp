// SPDX-License-Identifier: Apache-2.0
#include <signal.h>

#include <cstdlib>
#include <string>

#include "runtime/bif/bifs_generated.hpp"
#include "runtime/bif/support.hpp"
#include "vm/base/halt.hpp"
#include "vm/base/release.hpp"
#include "vm/sched/scheduler.hpp"

/// erlang:halt/0,1,2.
namespace vmrun {
namespace {

Term halt(Process& p, Term status, Term options) {
  static const Term flush_timeout = intern_atom("flush_timeout");
  bool flush = true;
  SWord timeout_ms = -1;
  for (; options.is_list(); options = options.tail()) {
    const Term o = options.head();
    if (!o.is_tuple() || o.tuple_arity() != 2) return raise_badarg(p);
    if (o.element(0) == flush_timeout && release_has(Trait::kHaltFlushTimeout)) {
      if (o.element(1) == atoms::infinity) timeout_ms = -1;
      else if (!small_in_range(o.element(1), 0, INT32_MAX, &timeout_ms)) return raise_badarg(p);
      continue;
    }
    if (o.element(0) != atoms::flush) return raise_badarg(p);
    if (o.element(1) != atoms::true_ && o.element(1) != atoms::false_) return raise_badarg(p);
    flush = o.element(1) == atoms::true_;
  }
  if (!options.is_nil()) return raise_badarg(p);
  const SWord most_ms = flush_timeout_of_all_ms;
  if (most_ms >= 0 && (timeout_ms < 0 || timeout_ms > most_ms)) timeout_ms = most_ms;
  static const Term abort_atom = intern_atom("abort");
  SWord code;
  std::string slogan;
  if (status == abort_atom) {
    ::signal(SIGABRT, SIG_DFL);  // a core, no crash dump
    std::abort();
  } else if (small_in_range(status, 0, Term::kSmallMax, &code)) {
    begin_to_hold_processes();  // the main thread may be late
    request_halt({.status = static_cast<int>(code & 0xFF),
                  .flush = flush,
                  .flush_timeout_ms = static_cast<int>(timeout_ms)});
  } else if (list_to_utf8(status, &slogan)) {
    request_halt({.status = 1, .flush = false, .dump = true, .slogan = std::move(slogan)});
  } else {
    return raise_badarg(p);
  }
  return suspend_and_retry(p);  // the machine stops under it
}

}  // namespace

Term bif_erlang_halt_0(Process& p, const Term*) { return halt(p, Term::small(0), Term::nil()); }
Term bif_erlang_halt_1(Process& p, const Term* a) { return halt(p, a[0], Term::nil()); }
Term bif_erlang_halt_2(Process& p, const Term* a) { return halt(p, a[0], a[1]); }

}  // namespace vmrun
