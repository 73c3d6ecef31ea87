// SPDX-License-Identifier: Apache-2.0
#include "runtime/bif/reduction_budget.hpp"
#include "runtime/bif/support.hpp"
#include "vm/heap/shared_copy.hpp"

/// Sizes and copies of terms that preserve sharing, for functions that inspect the machine.
/// Literals count only when they are to be copied.
namespace vmrun {
namespace {

/// Returns false when there is too much for the calling thread.
bool find_here(SharedObjects& objects, Term t) {
  return objects.find(t, dirty_thread_kind() == DirtyKind::kNone ? kStepsOnScheduler : ~Word{0});
}

}  // namespace

Term bif_erts_debug_size_shared_1(Process& p, const Term* a) {
  if (came_back(p)) return run_on_dirty(p, bif_erts_debug_size_shared_1, a, 1);
  SharedObjects objects(false);
  if (!find_here(objects, a[0])) return run_on_dirty(p, bif_erts_debug_size_shared_1, a, 1);
  return Term::small(static_cast<SWord>(objects.words()));
}

/// (Term, whether literals are copied too).
Term bif_erts_debug_copy_shared_2(Process& p, const Term* a) {
  if (a[1] != atoms::true_ && a[1] != atoms::false_) return raise_badarg(p);
  if (came_back(p)) return run_on_dirty(p, bif_erts_debug_copy_shared_2, a, 2);
  SharedObjects objects(a[1] == atoms::true_);
  if (!find_here(objects, a[0])) return run_on_dirty(p, bif_erts_debug_copy_shared_2, a, 2);
  objects.copy(p.heap);
  return objects.in_copy(a[0]);
}

}  // namespace vmrun
