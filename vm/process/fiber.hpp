// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "vm/process/bif.hpp"

/// Long-running built-in functions. A BIF that may run long puts its work into a body and says
/// `return run_on_fiber(p, body, args, arity)`. The body runs on a pooled C++ stack of its own.
/// Whenever p.reductions are used up it calls fiber_yield, and the process goes back to the run
/// queue. When the process runs next, the interpreter calls the BIF again with the same arguments,
/// and the body continues.
///
/// A collection may move the body's terms at that point. So the body uses `args` as given to it
/// (updated in place), and names its other terms with FiberRoots. The body runs in the process's
/// own thread, which may be a different one after each yield: no thread-local reference may be kept
/// across fiber_yield. When the process is killed meanwhile, the body's stack is unwound
/// (destructors run).
namespace vmrun {

struct Fiber;

using FiberBody = Term (*)(Process& p, const Term* args);

inline constexpr unsigned kMaxFiberArgs = 4;

/// Returns what a BIF returns.
Term run_on_fiber(Process& p, FiberBody body, const Term* args, unsigned arity);

/// Gives up the core, inside a body. Terms that are not rooted are invalid afterwards.
void fiber_yield(Process& p);
/// Charges work, and yields when the slice is used up.
inline void fiber_charge(Process& p, SWord reductions) {
  bump_reductions(p, reductions);
  if (p.reductions <= 0) fiber_yield(p);
}
/// Whether the calling code runs on p's fiber, so that shared helpers know if they may yield.
bool on_fiber(const Process& p);

/// Keeps the terms in [first, first + count) alive and up to date across yields, for as long as it
/// lives. Used inside a body only.
class FiberRoots {
 public:
  FiberRoots(Process& p, Term* first, Word count);
  FiberRoots(Process& p, Term& term) : FiberRoots(p, &term, 1) {}
  ~FiberRoots();
  FiberRoots(const FiberRoots&) = delete;

 private:
  friend void visit_fiber_roots(Fiber& fiber, void (*visit)(void* context, Term* terms, std::size_t count),
                                void* context);
  Fiber& fiber_;
  Term* first_;
  Word count_;
  FiberRoots* next_;
};

void visit_fiber_roots(Fiber& fiber, void (*visit)(void* context, Term* terms, std::size_t count),
                       void* context);
/// Drops the fiber of a process that ends while its body is suspended.
void abandon_fiber(Process& p);

}  // namespace vmrun
