// SPDX-License-Identifier: Apache-2.0
// erts_debug:dirty_cpu/2, dirty_io/2 and dirty/3: calls on dirty schedulers whose work a test
// chooses.

#include <cerrno>
#include <ctime>

#include "runtime/bif/bifs_generated.hpp"
#include "runtime/bif/support.hpp"
#include "vm/base/epoch.hpp"
#include "vm/heap/copy.hpp"
#include "vm/message/send.hpp"
#include "vm/process/dirty_job.hpp"

namespace vmrun {
namespace {

Term kind_of_thread() {
  switch (dirty_thread_kind()) {
    case DirtyKind::kNone: return atoms::normal;
    case DirtyKind::kCpu: return intern_atom("dirty_cpu");
    case DirtyKind::kIo: return intern_atom("dirty_io");
  }
  return atoms::undefined;
}

void sleep_ms(SWord ms) {
  timespec left{ms / 1000, ms % 1000 * 1'000'000};
  while (nanosleep(&left, &left) < 0 && errno == EINTR) {}
}

void tell(const Process& p, Term pid, const char* what) {
  const EpochGuard guard;
  Arena arena;
  send_from_vm(pid, new_tuple(arena, intern_atom(what), p.id));
}

bool is_ended(const Process& p) { return p.exiting.load(std::memory_order_relaxed); }

Term scheduler_kind(Process& p, Term what) {
  return what == intern_atom("type") ? kind_of_thread() : raise_badarg(p);
}

Term raise_this(Process& p, Term reason) { return raise_error(p, reason.is_atom() ? reason : atoms::badarg); }

/// Makes a list of many copies, slowly.
Term copy_slowly(Process& p, Term what) {
  constexpr int kCopies = 1000, kAtOnce = 100;
  Term list = Term::nil();
  for (int i = 0; i < kCopies; ++i) {
    if (i % kAtOnce == 0) sleep_ms(kAtOnce / 10);
    const Term copy = copy_to(p.heap, what, Literals::kCopied);
    Term* hp = p.heap.alloc(2);
    list = make_cons(hp, copy, list);
  }
  return list;
}

Term wait_so_long(Process& p, Term ms) {
  if (!ms.is_small()) return raise_badarg(p);
  if (ms.small_value() > 0) sleep_ms(ms.small_value());
  return atoms::ok;
}

Term tell_and_work_on(Process& p, Term pid) {
  if (!pid.is_local_pid()) return raise_badarg(p);
  tell(p, pid, "ready");
  sleep_ms(6000);
  tell(p, pid, "done");
  return atoms::ok;
}

/// Runs until the process has been ended.
Term await_end_of_process(Process& p, Term pid) {
  if (!pid.is_local_pid()) return raise_badarg(p);
  tell(p, pid, "alive");
  while (!is_ended(p)) sleep_ms(10);
  return atoms::ok;
}

Term outlive_process(Process& p, Term pid) {
  const Term done = await_end_of_process(p, pid);
  if (done) sleep_ms(1000);
  return done;
}

struct Work {
  const char* name;
  Term (*run)(Process& p, Term argument);
};
constexpr Work kWork[] = {
    {"scheduler", scheduler_kind},
    {"error", raise_this},
    {"copy", copy_slowly},
    {"wait", wait_so_long},
    {"ready_wait6_done", tell_and_work_on},
    {"alive_waitexiting", outlive_process},
    {"alive_waitexitingonly", await_end_of_process},
};

/// (What, Argument)
Term work(Process& p, const Term* a) {
  if (a[0].is_atom())
    for (const Work& w : kWork)
      if (atom_text(a[0]) == w.name) return w.run(p, a[1]);
  return raise_badarg(p);
}

/// Moves to a dirty scheduler and back, as often as the second argument says.
Term go_there_and_back(Process& p, Export* self, const Term* a, unsigned arity, SWord times, DirtyKind kind,
                       const FunctionName& name) {
  if (times == 0) return atoms::ok;
  if (kind != DirtyKind::kNone) {
    const Term there[] = {intern_atom("scheduler"), intern_atom("type")};
    if (!run_on_dirty_handling_signals(p, name, work, there, 2, kind)) return kNonValue;
  }
  const Term left = Term::small(times - 1);
  return arity == 2 ? trap_to(p, self, {a[0], left}) : trap_to(p, self, {a[0], a[1], left});
}

/// a: the arguments of the called function, the last two of which say what to do.
Term work_there(Process& p, const char* function, const Term* a, unsigned arity, DirtyKind kind) {
  static const Term module = intern_atom("erts_debug"), reschedule = intern_atom("reschedule");
  const Term* what = a + arity - 2;
  const FunctionName name{module, intern_atom(function), arity};
  SWord times;
  if (what[0] == reschedule && small_in_range(what[1], 0, SWord{1} << 27, &times))
    return go_there_and_back(p, export_entry(module, name.function, arity), a, arity, times, kind, name);
  return kind == DirtyKind::kNone ? work(p, what)
                                  : run_on_dirty_handling_signals(p, name, work, what, 2, kind);
}

}  // namespace

Term bif_erts_debug_dirty_cpu_2(Process& p, const Term* a) {
  return work_there(p, "dirty_cpu", a, 2, DirtyKind::kCpu);
}
Term bif_erts_debug_dirty_io_2(Process& p, const Term* a) {
  return work_there(p, "dirty_io", a, 2, DirtyKind::kIo);
}
/// (Kind, What, Argument)
Term bif_erts_debug_dirty_3(Process& p, const Term* a) {
  static const Term cpu = intern_atom("dirty_cpu"), io = intern_atom("dirty_io");
  if (a[0] != atoms::normal && a[0] != cpu && a[0] != io) return raise_badarg(p);
  return work_there(p, "dirty", a, 3,
                    a[0] == cpu  ? DirtyKind::kCpu
                    : a[0] == io ? DirtyKind::kIo
                                 : DirtyKind::kNone);
}

}  // namespace vmrun
